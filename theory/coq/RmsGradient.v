(** Eq. 4: the input gradient of RMSNorm, for every number of channels.

    With eps inside the root it is the printed formula; with eps outside, S = R + eps, the factor in front of the sum is
    x_i / R instead of x_i / S.  Source: section 5.1, Eq. 4 (xhat before the affine weight).  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Derivatives.
Local Open Scope R_scope.

Implicit Types (N i : nat) (eps S t : R) (gam d x w : nat -> R).

(** The loss whose gradient with respect to output k is [d k], for outputs gamma_k x_k / S. *)
Definition rms_loss N gam d S x : R := sum N (fun k => d k * (gam k * x k / S)).

(** (1/N) sum gamma_k d_k xhat_k *)
Definition rms_projection N gam d S x : R := / INR N * sum N (fun k => gam k * d k * (x k / S)).

Lemma rms_loss_div N gam d S x : rms_loss N gam d S x = sum N (fun k => gam k * d k * x k) / S.
Proof. unfold rms_loss, Rdiv; rewrite <- sum_scal_r; apply sum_ext; intros; ring. Qed.

Lemma rms_projection_div N gam d S x :
  rms_projection N gam d S x = / INR N * (sum N (fun k => gam k * d k * x k) / S).
Proof.
  unfold rms_projection, Rdiv; f_equal; rewrite <- sum_scal_r; apply sum_ext; intros; ring.
Qed.

(** Any scale with a known derivative along the curve. *)
Lemma rms_loss_scale N gam d (S : R -> R) (c : R -> nat -> R) t w dS :
  channel_curve N c t w -> is_derive S t dS -> S t <> 0 ->
  is_derive (fun s => rms_loss N gam d (S s) (c s)) t
    ((sum N (fun k => gam k * d k * w k) - rms_loss N gam d (S t) (c t) * dS) / S t).
Proof.
  intros Hc HS H0; rewrite rms_loss_div.
  apply (D_ext (fun s => sum N (fun k => gam k * d k * c s k) / S s)); [intros; now rewrite rms_loss_div|].
  apply (D_div (fun s => sum N (fun k => gam k * d k * c s k))); [|exact HS|exact H0].
  apply (D_sum N (fun s k => gam k * d k * c s k)); intros k Hk; apply D_scal; now apply Hc.
Qed.

(** ** Eps inside the root *)

Definition rms_grad N eps gam d x i : R :=
  let S := RMS N eps x in (gam i * d i - x i / S * rms_projection N gam d S x) / S.

Theorem eq04_curve N eps gam d c t w : 0 < RMS N eps (c t) -> channel_curve N c t w ->
  is_derive (fun s => rms_loss N gam d (RMS N eps (c s)) (c s)) t
    (sum N (fun i => rms_grad N eps gam d (c t) i * w i)).
Proof.
  intros HR Hc; eapply D_eq.
  - apply rms_loss_scale; [exact Hc|exact (D_RMS N eps c t w Hc HR)|lra].
  - unfold rms_grad; set (S := RMS N eps (c t)) in *.
    rewrite (sum_ext N (fun i => _ / S * w i)
      (fun i => / S * (gam i * d i * w i) - rms_projection N gam d S (c t) / S / S * (c t i * w i)))
      by (intros; field; lra).
    rewrite sum_minus, !sum_scal, rms_projection_div, <- rms_loss_div.
    unfold Rdiv; generalize (/ INR N); intros; field; lra.
Qed.

Theorem eq04 N eps gam d x i : (i < N)%nat -> 0 < RMS N eps x ->
  is_derive (fun a => rms_loss N gam d (RMS N eps (upd x i a)) (upd x i a)) (x i)
    ((gam i * d i - x i / RMS N eps x * rms_projection N gam d (RMS N eps x) x) / RMS N eps x).
Proof.
  intros Hi HR.
  assert (E : forall k, upd x i (x i) k = x k) by (intros; apply upd_id).
  assert (ER : RMS N eps (upd x i (x i)) = RMS N eps x)
    by (unfold RMS; do 3 f_equal; apply sum_ext; intros; now rewrite E).
  eapply D_eq; [apply (eq04_curve N eps gam d (fun a => upd x i a) (x i) (at_channel i 1))|].
  - now rewrite ER.
  - apply channel_curve_one.
  - rewrite sum_at_channel by easy; unfold rms_grad, rms_projection; rewrite ER, E.
    rewrite (sum_ext N (fun k => gam k * d k * (upd x i (x i) k / _)) (fun k => gam k * d k * (x k / RMS N eps x)))
      by (intros; now rewrite E).
    generalize (/ INR N); intros; field; lra.
Qed.

(** ** Eps outside: S = R + eps *)

Theorem eq04_eps_outside N eps gam d x i : (i < N)%nat -> 0 < RMS N 0 x -> 0 < RMS N 0 x + eps ->
  is_derive (fun a => rms_loss N gam d (RMS N 0 (upd x i a) + eps) (upd x i a)) (x i)
    (let S := RMS N 0 x + eps in (gam i * d i - x i / RMS N 0 x * rms_projection N gam d S x) / S).
Proof.
  intros Hi HR HS.
  assert (E : forall k, upd x i (x i) k = x k) by (intros; apply upd_id).
  assert (ER : RMS N 0 (upd x i (x i)) = RMS N 0 x)
    by (unfold RMS; do 3 f_equal; apply sum_ext; intros; now rewrite E).
  eapply D_eq.
  - apply (rms_loss_scale N gam d (fun a => RMS N 0 (upd x i a) + eps) (fun a => upd x i a) (x i)
             (at_channel i 1)); [apply channel_curve_one| |rewrite ER; lra].
    apply (D_plus (fun a => RMS N 0 (upd x i a))); [|apply D_const].
    apply (D_RMS N 0 (fun a => upd x i a) (x i) (at_channel i 1)); [apply channel_curve_one|now rewrite ER].
  - cbv zeta; rewrite ER, !sum_at_channel, E, rms_projection_div, rms_loss_div by easy.
    rewrite (sum_ext N (fun k => gam k * d k * upd x i (x i) k) (fun k => gam k * d k * x k))
      by (intros; now rewrite E).
    unfold Rdiv; generalize (/ INR N); intros; field; lra.
Qed.
