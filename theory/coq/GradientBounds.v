(** How large the input gradient can be: with M >= |gamma_k| |g_k| for every k,

        |Omega| <= (1 - eps/S) M,     |dL/dz_i| <= (2 - eps/S) M / S.

    The backward pass is linear in g: this is a bound on its gain, not a threshold.  Corrects the claims of section 5.1
    that the magnitudes of all gradients are equal, and of the abstract that they are clipped.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Interference.
Local Open Scope R_scope.

Implicit Types (P i k : nat) (eps M c : R) (gam : nat -> R) (g z : nat -> vec).

Lemma share P eps z : 0 < S_mean P eps z ->
  1 - eps / S_mean P eps z = (S_mean P eps z - eps) / S_mean P eps z.
Proof. intros; field; lra. Qed.

Theorem Omega_bound P eps gam g z M : (0 < P)%nat -> 0 <= eps -> 0 < S_mean P eps z ->
  (forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M) ->
  Rabs (Omega P eps gam g z) <= (1 - eps / S_mean P eps z) * M.
Proof.
  intros HP He HS HM; assert (HP' := lt_0_INR P HP); assert (HI := Rinv_0_lt_compat _ HS).
  rewrite share, Omega_div by easy; set (S := S_mean P eps z) in *.
  unfold Rdiv; rewrite !Rabs_mult, (Rabs_pos_eq (/ S)), (Rabs_pos_eq (/ INR P))
    by (left; now apply Rinv_0_lt_compat).
  replace ((S - eps) * / S * M) with (/ INR P * (M * (INR P * (S - eps))) * / S) by (field; lra).
  apply Rmult_le_compat_r; [lra|]; apply Rmult_le_compat_l; [left; now apply Rinv_0_lt_compat|].
  unfold S; rewrite <- sum_nrm, <- sum_scal by easy.
  eapply Rle_trans; [apply sum_abs|]; apply sum_le; intros k Hk.
  rewrite Rabs_mult; assert (D := dot_le (g k) (z k)); assert (N := nrm_ge0 (z k)).
  specialize (HM k Hk); assert (G := Rabs_pos (gam k)).
  eapply Rle_trans; [apply Rmult_le_compat_l; [easy|exact D]|]; nra.
Qed.

(** It is reached: by upstream gradients along the phasors. *)
Theorem Omega_bound_tight P eps z : (0 < P)%nat -> 0 < S_mean P eps z ->
  Omega P eps (fun _ => 1) (fun k => unit (z k)) z = 1 - eps / S_mean P eps z.
Proof.
  intros HP HS; rewrite share, Omega_div by easy.
  rewrite (sum_ext P _ (fun k => nrm (z k))), (sum_nrm P eps) by (easy || intros; rewrite dot_unit_self; ring).
  apply lt_0_INR in HP; field; lra.
Qed.

Theorem grad_bound P eps gam g z i M : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  (forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M) ->
  nrm (grad P eps gam g z i) <= (2 - eps / S_mean P eps z) * M / S_mean P eps z.
Proof.
  intros Hi He Hz HM; assert (HS := S_mean_pos P eps z i Hi He Hz).
  assert (HP : (0 < P)%nat) by lia; assert (B := Omega_bound P eps gam g z M HP He HS HM).
  assert (HI := Rinv_0_lt_compat _ HS); specialize (HM i Hi).
  unfold grad; rewrite nrm_vscal_pos by lra.
  assert (T := nrm_triangle (vscal (gam i) (g i)) (vscal (- Omega P eps gam g z) (unit (z i)))).
  rewrite !nrm_vscal, Rabs_Ropp, nrm_unit in T by easy.
  set (S := S_mean P eps z) in *.
  replace ((2 - eps / S) * M / S) with (/ S * (M + (1 - eps / S) * M)) by (field; lra).
  apply Rmult_le_compat_l; lra.
Qed.

(** The least M. *)
Corollary grad_bound_max P eps gam g z i : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  let M := rmax P (fun k => Rabs (gam k) * nrm (g k)) in
  Rabs (Omega P eps gam g z) <= (1 - eps / S_mean P eps z) * M /\
  nrm (grad P eps gam g z i) <= (2 - eps / S_mean P eps z) * M / S_mean P eps z.
Proof.
  intros Hi He Hz M; assert (HS := S_mean_pos P eps z i Hi He Hz).
  assert (B : forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M)
    by (intros k Hk; now apply (rmax_ge P k (fun k => Rabs (gam k) * nrm (g k)))).
  split; [apply Omega_bound; easy || lia|now apply grad_bound].
Qed.

(** The backward pass is linear in g, so nothing is clipped. *)
Theorem grad_linear P eps gam g z i c :
  grad P eps gam (fun k => vscal c (g k)) z i = vscal c (grad P eps gam g z i).
Proof.
  unfold grad; rewrite !Omega_div.
  rewrite (sum_ext P _ (fun k => c * (gam k * dot (g k) (z k))))
    by (intros; unfold dot, vscal; simpl; ring).
  rewrite sum_scal; unfold Rdiv; components; ring.
Qed.

(** eps > 0 bounds it by M / eps, whatever h is. *)
Corollary grad_bound_eps P eps gam g z i M : (i < P)%nat -> 0 < eps -> z i <> vzero ->
  (forall k, (k < P)%nat -> Rabs (gam k) * nrm (g k) <= M) -> nrm (grad P eps gam g z i) <= M / eps.
Proof.
  intros Hi He Hz HM; eapply Rle_trans; [apply (grad_bound P eps gam g z i M); auto; lra|].
  assert (HS := S_mean_pos P eps z i Hi (Rlt_le _ _ He) Hz); set (S := S_mean P eps z) in *.
  assert (G : 0 <= M) by (eapply Rle_trans; [|apply (HM i Hi)]; apply Rmult_le_pos; [apply Rabs_pos|apply nrm_ge0]).
  apply (Rmult_le_reg_r (eps * S ^ 2)); [apply Rmult_lt_0_compat; [easy|now apply pow_lt]|].
  replace ((2 - eps / S) * M / S * (eps * S ^ 2)) with (M * ((2 * S - eps) * eps)) by (field; lra).
  replace (M / eps * (eps * S ^ 2)) with (M * S ^ 2) by (field; lra).
  apply Rmult_le_compat_l; [easy|]; assert (D := pow2_ge_0 (S - eps)); lra.
Qed.

(** No threshold holds for every upstream gradient. *)
Theorem clipper_refuted : ~ (exists C, forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  nrm (grad P eps gam g z i) <= C).
Proof.
  intros [C H]; destruct homogeneity_witness as (_ & _ & E & _).
  match type of E with nrm (grad _ _ ?gam ?g ?z _) = _ =>
    assert (D := H 2%nat 0 gam (fun k => vscal (2 * Rabs C + 2) (g k)) z 0%nat Nat.lt_0_2 (Rle_refl 0) e1_neq0) end.
  assert (A := Rle_abs C); assert (B := Rabs_pos C).
  rewrite grad_linear, nrm_vscal_pos, E in D by lra; lra.
Qed.
