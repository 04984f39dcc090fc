(** The radial gain: how much of a push along phasor i its own output keeps, (1/S) (1 - r_i / (P S)).

    It is positive exactly when eps > 0 or another phasor is non-zero, and at least delta / S exactly when
    r_i <= (1 - delta) P S.  Source: section 5.2, after Eq. 8.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Jacobian.
Local Open Scope R_scope.

Implicit Types (P i j k : nat) (eps delta : R) (z : nat -> vec).

Definition radial_gain P eps z i : R :=
  (1 - nrm (z i) / (INR P * S_mean P eps z)) / S_mean P eps z.

(** The magnitudes of the other phasors, added up. *)
Definition others P z i : R := sum P (fun k => if Nat.eqb k i then 0 else nrm (z k)).

(** Pushing along u_i moves zhat_i along u_i. *)
Theorem radial_gain_derive P eps z i : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z i (unit (z i)) s) i) 0
    (vscal (radial_gain P eps z i) (unit (z i))).
Proof.
  intros Hi He Hz; eapply D_vec_eq; [now apply eq08|].
  assert (HS := S_mean_pos P eps z i Hi He Hz); assert (HP := INR_pos P i Hi).
  unfold own_block, radial_gain; rewrite dot_comm, dot_zhat, dot_unit_self; components; field; lra.
Qed.

Lemma others_ge0 P z i : 0 <= others P z i.
Proof. apply sum_ge0; intros j _; destruct (Nat.eqb j i); [lra|apply nrm_ge0]. Qed.

Lemma others_pos P z i : 0 < others P z i <-> exists j, (j < P)%nat /\ j <> i /\ z j <> vzero.
Proof.
  split.
  - intros (j & Hj & H)%sum_pos_ex; exists j.
    destruct (Nat.eqb_spec j i) as [|Hne]; [lra|]; repeat split; try easy; now apply nrm_pos_inv.
  - intros (j & Hj & Hne & Hz%nrm_pos).
    assert (D := sum_ge_term P j (fun j => if Nat.eqb j i then 0 else nrm (z j)) Hj).
    cbv beta in D; rewrite (proj2 (Nat.eqb_neq j i) Hne) in D.
    apply (Rlt_le_trans _ _ _ Hz), D; intros l _.
    destruct (Nat.eqb l i); [lra|apply nrm_ge0].
Qed.

Lemma others_eq P eps z i : (i < P)%nat -> others P z i = INR P * (S_mean P eps z - eps) - nrm (z i).
Proof.
  intros Hi; rewrite <- sum_nrm by lia; rewrite (sum_split P i (fun k => nrm (z k))) by easy.
  unfold others; ring.
Qed.

Theorem radial_gain_eq P eps z i : (i < P)%nat -> 0 < S_mean P eps z ->
  radial_gain P eps z i = (others P z i + INR P * eps) / (INR P * S_mean P eps z ^ 2).
Proof.
  intros Hi HS; assert (HP := INR_pos P i Hi).
  rewrite (others_eq P eps) by easy; unfold radial_gain; field; lra.
Qed.

Theorem radial_gain_pos P eps z i : (i < P)%nat -> 0 <= eps -> 0 < S_mean P eps z ->
  0 < radial_gain P eps z i <-> 0 < eps \/ exists j, (j < P)%nat /\ j <> i /\ z j <> vzero.
Proof.
  intros Hi He HS; rewrite radial_gain_eq, <- others_pos by easy.
  assert (HP := INR_pos P i Hi); assert (D := others_ge0 P z i).
  assert (HI : 0 < / (INR P * S_mean P eps z ^ 2))
    by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; [easy|now apply pow_lt]).
  unfold Rdiv; split; intros H.
  - destruct (Rlt_dec 0 eps); [now left|right].
    assert (E : eps = 0) by lra; subst eps; nra.
  - apply Rmult_lt_0_compat; [destruct H; nra|easy].
Qed.

(** A share of the sum below one, uniformly in P, is what keeps the gain from vanishing. *)
Theorem radial_gain_stable P eps z i delta : (i < P)%nat -> 0 < S_mean P eps z ->
  delta / S_mean P eps z <= radial_gain P eps z i <-> nrm (z i) <= (1 - delta) * (INR P * S_mean P eps z).
Proof.
  intros Hi HS; assert (HP := INR_pos P i Hi); set (S := S_mean P eps z) in *.
  assert (E : radial_gain P eps z i - delta / S = ((1 - delta) * (INR P * S) - nrm (z i)) * / (INR P * S ^ 2))
    by (unfold radial_gain; fold S; field; lra).
  assert (HI : 0 < / (INR P * S ^ 2)) by (apply Rinv_0_lt_compat, Rmult_lt_0_compat; [easy|now apply pow_lt]).
  split; intros H; [apply Rnot_lt_le; intros L|]; nra.
Qed.

(** P = 1 and eps = 0 is the blockade itself. *)
Theorem radial_gain_blocked z : z 0%nat <> vzero -> radial_gain 1 0 z 0 = 0.
Proof.
  intros Hz; assert (HS := S_mean_pos 1 0 z 0 Nat.lt_0_1 (Rle_refl 0) Hz).
  rewrite radial_gain_eq by (easy || lia); unfold others; simpl; field; lra.
Qed.

(** An outlier loses its radial gradient however large P is: magnitude P^2 among magnitudes of 1, at eps = 0. *)
Theorem radial_gain_outlier P z : (0 < P)%nat -> nrm (z 0%nat) = INR P ^ 2 ->
  (forall k, (0 < k < P)%nat -> nrm (z k) = 1) ->
  S_mean P 0 z * radial_gain P 0 z 0 <= / INR P.
Proof.
  intros HP H0 H1; assert (H := le_INR 1 P HP); simpl (INR 1) in H.
  assert (O : others P z 0 = INR P - 1).
  { assert (E := sum_split P 0 (fun _ => 1) HP); rewrite sum_const in E.
    unfold others; rewrite (sum_ext P _ (fun j => if Nat.eqb j 0 then 0 else 1)); [lra|].
    intros [|j] Hj; [reflexivity|]; cbn [Nat.eqb]; apply H1; lia. }
  assert (E := others_eq P 0 z 0 HP); rewrite O, H0 in E.
  assert (HS : S_mean P 0 z = (INR P ^ 2 + INR P - 1) / INR P)
    by (apply (Rmult_eq_reg_l (INR P)); [field_simplify; lra|lra]).
  assert (Q : 0 < INR P ^ 2 + INR P - 1) by nra.
  assert (HP' : 0 < S_mean P 0 z) by (rewrite HS; apply Rdiv_lt_0_compat; lra).
  rewrite radial_gain_eq, O, HS by easy.
  replace ((INR P ^ 2 + INR P - 1) / INR P *
           ((INR P - 1 + INR P * 0) / (INR P * ((INR P ^ 2 + INR P - 1) / INR P) ^ 2)))
    with ((INR P - 1) / (INR P ^ 2 + INR P - 1)) by (field; lra).
  apply (Rmult_le_reg_r (INR P * (INR P ^ 2 + INR P - 1))); [nra|].
  replace ((INR P - 1) / (INR P ^ 2 + INR P - 1) * (INR P * (INR P ^ 2 + INR P - 1))) with (INR P * (INR P - 1))
    by (field; lra).
  replace (/ INR P * (INR P * (INR P ^ 2 + INR P - 1))) with (INR P ^ 2 + INR P - 1) by (field; lra); nra.
Qed.
