(** Where Eq. 5 needs its two conditions: zhat before the affine weight, and z_i != 0.

    Source: section 5.1, Eq. 5, read with the zhat that Eq. 2 defines (after the weight), and at z_i = 0.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Gradient.
Local Open Scope R_scope.

Implicit Types (P i k : nat) (eps t : R) (gam : nat -> R) (g z : nat -> vec) (v : vec).

(** ** The post-affine reading counts gamma twice *)

Definition Omega_post P eps gam g z : R :=
  / INR P * sum P (fun k => gam k * dot (g k) (out gam (S_mean P eps z) z k)).
Definition grad_post P eps gam g z i : vec :=
  vscal (/ S_mean P eps z) (vadd (vscal (gam i) (g i)) (vscal (- Omega_post P eps gam g z) (unit (z i)))).

(** P = 1, z = g = (1, 0), gamma = 2, eps = 0: the derivative is 0, the formula says -2. *)
Theorem eq05_post_affine_refuted :
  ~ (forall P eps gam g z i, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
       is_derive (fun x => loss P eps gam g (upd z i (x, snd (z i)))) (fst (z i)) (fst (grad_post P eps gam g z i))).
Proof.
  intros H; set (z := fun _ : nat => (1, 0)); set (gam := fun _ : nat => 2).
  assert (Hz : z 0%nat <> vzero) by exact e1_neq0.
  assert (D := H 1%nat 0 gam z z 0%nat (Nat.lt_0_1) (Rle_refl 0) Hz).
  assert (D' := eq05_x 1 0 gam z z 0 (Nat.lt_0_1) (Rle_refl 0) Hz).
  assert (E := D_unique _ _ _ _ D D').
  unfold grad_post, Omega_post, Omega, zhat, out, unit, S_mean, dot, vadd, vscal, z, gam in E.
  cbn [sum fst snd] in E; rewrite nrm_e1 in E; simpl in E; field_simplify in E; lra.
Qed.

(** ** No derivative at z_i = 0 unless Omega = 0 *)

(** Seen from 0, the loss along [v] is a quotient of two linear functions of the length of the step. *)
Lemma loss_from_zero P eps gam g z i v t : (i < P)%nat -> z i = vzero -> 0 <= t ->
  loss P eps gam g (upd z i (vscal t v)) =
  (sum P (fun k => gam k * dot (g k) (z k)) + t * (gam i * dot (g i) v)) / (S_mean P eps z + t * (nrm v / INR P)).
Proof.
  intros Hi Hz Ht; rewrite loss_div; unfold S_mean; f_equal.
  - rewrite (sum_upd P i z _ (fun k u => gam k * dot (g k) u)), Hz by easy.
    unfold dot, vscal, vzero; simpl; ring.
  - rewrite (sum_upd P i z _ (fun _ u => nrm u)), Hz, nrm0, nrm_vscal_pos by easy.
    unfold Rdiv; ring.
Qed.

(** The one-sided slope along [v]; those along v and -v add up to -2 |v| Omega / S, not to 0. *)
Theorem slope_from_zero P eps gam g z i v : (i < P)%nat -> z i = vzero -> 0 < S_mean P eps z ->
  exists F, (forall t, 0 <= t -> loss P eps gam g (upd z i (vscal t v)) = F t) /\
    is_derive F 0 ((gam i * dot (g i) v - nrm v * Omega P eps gam g z) / S_mean P eps z).
Proof.
  intros Hi Hz HS.
  exists (fun t => (sum P (fun k => gam k * dot (g k) (z k)) + t * (gam i * dot (g i) v))
                   / (S_mean P eps z + t * (nrm v / INR P))).
  split; [intros; now apply loss_from_zero|eapply D_eq].
  - apply (D_div (fun t => _ + t * _) (fun t => _ + t * _)); [apply D_line|apply D_line|lra].
  - rewrite Omega_div; assert (HP := INR_pos P i Hi); field; lra.
Qed.

Lemma derivative_from_right (h : R -> R) (d : R) :
  is_derive h 0 d -> (forall t, 0 <= t -> h t = 0) -> d = 0.
Proof.
  intros H%is_derive_Reals E; destruct (Req_dec d 0) as [|N]; [easy|exfalso].
  destruct (H (Rabs d) (Rabs_pos_lt d N)) as [del D]; assert (Pd := cond_pos del).
  specialize (D (del / 2)); rewrite Rplus_0_l, !E in D by lra.
  assert (A : Rabs ((0 - 0) / (del / 2) - d) < Rabs d) by (apply D; [lra|rewrite Rabs_pos_eq; lra]).
  replace ((0 - 0) / (del / 2) - d) with (- d) in A by (field; lra); rewrite Rabs_Ropp in A; lra.
Qed.

Lemma right_slope (f F : R -> R) (d d' : R) :
  is_derive f 0 d -> is_derive F 0 d' -> (forall t, 0 <= t -> f t = F t) -> d = d'.
Proof.
  intros Hf HF E; apply Rminus_diag_uniq.
  apply (derivative_from_right (fun t => f t + -1 * F t)).
  - eapply D_eq; [apply D_plus; [exact Hf|apply D_scal; exact HF]|ring].
  - intros t Ht; rewrite E by easy; ring.
Qed.

Theorem no_gradient_at_zero P eps gam g z i v : (i < P)%nat -> z i = vzero -> 0 < S_mean P eps z ->
  Omega P eps gam g z <> 0 -> v <> vzero ->
  ~ ex_derive (fun t => loss P eps gam g (upd z i (vscal t v))) 0.
Proof.
  intros Hi Hz HS HO Hv%nrm_pos [d D].
  destruct (slope_from_zero P eps gam g z i v Hi Hz HS) as (F & EF & DF).
  destruct (slope_from_zero P eps gam g z i (vscal (-1) v) Hi Hz HS) as (G & EG & DG).
  assert (E1 := right_slope _ _ _ _ D DF EF).
  assert (D2 : is_derive (fun t => loss P eps gam g (upd z i (vscal (- t) v))) 0 (-1 * d)).
  { apply (is_derive_comp (fun t => loss P eps gam g (upd z i (vscal t v))) Ropp 0 d (-1)).
    - now rewrite Ropp_0.
    - apply (D_ext (fun t => 0 + t * -1)); [intros; ring|apply D_line]. }
  assert (E2 := right_slope _ _ _ _ D2 DG).
  rewrite nrm_vscal, (Rabs_left (-1)) in E2 by lra.
  assert (Q : -1 * d = (gam i * dot (g i) (vscal (-1) v) - - -1 * nrm v * Omega P eps gam g z) / S_mean P eps z).
  { apply E2; intros t Ht; rewrite <- EG by easy; do 2 f_equal; components; ring. }
  replace (dot (g i) (vscal (-1) v)) with (- dot (g i) v) in Q by (unfold dot, vscal; simpl; ring).
  assert (Z : nrm v * Omega P eps gam g z = 0).
  { apply (Rmult_eq_reg_r (/ S_mean P eps z)); [unfold Rdiv in *; lra|].
    apply Rgt_not_eq, Rinv_0_lt_compat, HS. }
  apply Rmult_integral in Z; destruct Z; lra.
Qed.
