(** Eq. 5: the input gradient of MRSNorm, for every P, gamma, upstream gradient and eps.

        dL/dz_i = (gamma_i g_i - u_i Omega) / S,   Omega = (1/P) sum_k gamma_k g_k . zhat_k,   zhat_k = z_k / S

    Source: section 5.1, Eq. 5, with zhat before the affine weight.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Derivatives.
Local Open Scope R_scope.

Implicit Types (P i k : nat) (eps t : R) (gam : nat -> R) (g z w : nat -> vec) (v : vec).

Definition grad P eps gam g z i : vec :=
  vscal (/ S_mean P eps z) (vadd (vscal (gam i) (g i)) (vscal (- Omega P eps gam g z) (unit (z i)))).

(** Any scale with a known derivative along the curve. *)
Lemma loss_scale P gam g (S : R -> R) (c : R -> nat -> vec) t w dS :
  (forall k, (k < P)%nat -> is_derive_vec (fun s => c s k) t (w k)) -> is_derive S t dS -> S t <> 0 ->
  is_derive (fun s => sum P (fun k => gam k * dot (g k) (c s k)) / S s) t
    ((sum P (fun k => gam k * dot (g k) (w k)) - sum P (fun k => gam k * dot (g k) (c t k)) / S t * dS) / S t).
Proof.
  intros Hc HS H0; apply (D_div (fun s => sum P (fun k => gam k * dot (g k) (c s k)))); [|exact HS|exact H0].
  apply (D_sum P (fun s k => gam k * dot (g k) (c s k))); intros k Hk.
  apply D_scal, (D_dot_l (g k) (fun s => c s k)); now apply Hc.
Qed.

Lemma sum_grad P eps gam g z w :
  sum P (fun k => dot (grad P eps gam g z k) (w k)) =
  (sum P (fun k => gam k * dot (g k) (w k)) - Omega P eps gam g z * sum P (fun k => dot (unit (z k)) (w k)))
  / S_mean P eps z.
Proof.
  unfold Rdiv, Rminus; rewrite Ropp_mult_distr_l, <- (sum_scal P (- _)), <- sum_plus, <- sum_scal_r.
  apply sum_ext; intros k _; unfold grad, dot, vadd, vscal; simpl; ring.
Qed.

(** Along any motion of all phasors. *)
Theorem eq05_curve P eps gam g c t w : S_mean P eps (c t) <> 0 -> curve P c t w ->
  is_derive (fun s => loss P eps gam g (c s)) t (sum P (fun k => dot (grad P eps gam g (c t) k) (w k))).
Proof.
  intros HS Hc.
  apply (D_ext (fun s => sum P (fun k => gam k * dot (g k) (c s k)) / S_mean P eps (c s)));
    [intros; now rewrite loss_div|].
  eapply D_eq.
  - apply loss_scale; [intros k Hk; exact (proj1 (Hc k Hk))|exact (D_S_mean P eps c t w Hc)|exact HS].
  - rewrite sum_grad, Omega_div; unfold Rdiv; ring.
Qed.

(** ** One phasor moves *)

Lemma loss_upd_id P eps gam g z i : loss P eps gam g (upd z i (z i)) = loss P eps gam g z.
Proof.
  unfold loss, S_mean, out; rewrite (sum_ext P (fun k => nrm (upd z i (z i) k)) (fun k => nrm (z k)))
    by (intros; now rewrite upd_id).
  apply sum_ext; intros; now rewrite upd_id.
Qed.

Lemma S_mean_upd_id P eps z i : S_mean P eps (upd z i (z i)) = S_mean P eps z.
Proof. unfold S_mean; do 2 f_equal; apply sum_ext; intros; now rewrite upd_id. Qed.

Lemma grad_upd_id P eps gam g z i k : grad P eps gam g (upd z i (z i)) k = grad P eps gam g z k.
Proof. unfold grad; now rewrite !Omega_loss, loss_upd_id, S_mean_upd_id, upd_id. Qed.

Theorem eq05_direction P eps gam g z i (f : R -> vec) t v : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  f t = z i -> is_derive_vec f t v ->
  is_derive (fun s => loss P eps gam g (upd z i (f s))) t (dot (grad P eps gam g z i) v).
Proof.
  intros Hi He Hz Hf Hv; eapply D_eq.
  - apply (eq05_curve P eps gam g (fun s => upd z i (f s)) t (at_phasor i v)); [|now apply curve_one].
    rewrite Hf, S_mean_upd_id; apply Rgt_not_eq; now apply (S_mean_pos P eps z i).
  - rewrite Hf, sum_at_phasor by easy; now rewrite grad_upd_id.
Qed.

(** The two partial derivatives, every other channel fixed. *)
Theorem eq05_x P eps gam g z i : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive (fun x => loss P eps gam g (upd z i (x, snd (z i)))) (fst (z i))
    ((gam i * fst (g i) - fst (unit (z i)) * Omega P eps gam g z) / S_mean P eps z).
Proof.
  intros Hi He Hz; eapply D_eq.
  - apply (eq05_direction P eps gam g z i (fun x => (x, snd (z i))) (fst (z i)) (1, 0)); try easy.
    + symmetry; apply surjective_pairing.
    + split; cbn [fst snd]; [apply D_id|apply D_const].
  - unfold grad, dot, vadd, vscal, Rdiv; simpl; ring.
Qed.

Theorem eq05_y P eps gam g z i : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive (fun y => loss P eps gam g (upd z i (fst (z i), y))) (snd (z i))
    ((gam i * snd (g i) - snd (unit (z i)) * Omega P eps gam g z) / S_mean P eps z).
Proof.
  intros Hi He Hz; eapply D_eq.
  - apply (eq05_direction P eps gam g z i (fun y => (fst (z i), y)) (snd (z i)) (0, 1)); try easy.
    + symmetry; apply surjective_pairing.
    + split; cbn [fst snd]; [apply D_const|apply D_id].
  - unfold grad, dot, vadd, vscal, Rdiv; simpl; ring.
Qed.
