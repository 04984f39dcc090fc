(** MA-RMSNorm: y = s gamma x / R + alpha W log R, R the root mean square of the N channels; its derivatives.

        J = (s G (I - xhat xhat^T / N) + alpha W xhat^T / N) / R,      J x = alpha W,
        dL/dx_i = (s gamma_i e_i - xhat_i (1/N) sum_k e_k (s gamma_k xhat_k - alpha W_k)) / R

    Completes section 2.2 of the article, which prints no derivative.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Derivatives.
Local Open Scope R_scope.

Implicit Types (N i j k : nat) (s alpha t : R) (gam W e x w : nat -> R).

Definition MA N s alpha gam W x k : R := s * gam k * (x k / RMS N 0 x) + alpha * W k * ln (RMS N 0 x).

(** (1/N) xhat . w *)
Definition along N x w : R := sum N (fun n => x n / RMS N 0 x * w n) / INR N.

Lemma along_div N x w : along N x w = sum N (fun n => x n * w n) / INR N / RMS N 0 x.
Proof.
  unfold along; rewrite (sum_ext N _ (fun n => / RMS N 0 x * (x n * w n))) by (intros; unfold Rdiv; ring).
  rewrite sum_scal; unfold Rdiv; ring.
Qed.

Theorem ma_jacobian_curve N s alpha gam W (c : R -> nat -> R) t w k :
  (k < N)%nat -> 0 < RMS N 0 (c t) -> channel_curve N c t w ->
  is_derive (fun a => MA N s alpha gam W (c a) k) t
    (let R := RMS N 0 (c t) in
     (s * gam k * (w k - c t k / R * along N (c t) w) + alpha * W k * along N (c t) w) / R).
Proof.
  intros Hk HR Hc; assert (D := D_RMS N 0 c t w Hc HR); unfold MA; eapply D_eq.
  - apply (D_plus (fun a => s * gam k * (c a k / RMS N 0 (c a))) (fun a => alpha * W k * ln (RMS N 0 (c a)))).
    + apply D_scal, (D_div (fun a => c a k) (fun a => RMS N 0 (c a))); [now apply Hc|exact D|lra].
    + apply D_scal, (D_ln (fun a => RMS N 0 (c a))); [exact D|exact HR].
  - cbv zeta; rewrite along_div; unfold Rdiv; generalize (/ INR N); intros; field; lra.
Qed.

(** Entry by entry. *)
Theorem ma_jacobian N s alpha gam W x i j : (i < N)%nat -> (j < N)%nat -> 0 < RMS N 0 x ->
  is_derive (fun a => MA N s alpha gam W (upd x j a) i) (x j)
    (let xhat k := x k / RMS N 0 x in
     (s * gam i * ((if Nat.eqb i j then 1 else 0) - xhat i * xhat j / INR N) + alpha * W i * xhat j / INR N)
     / RMS N 0 x).
Proof.
  intros Hi Hj HR.
  assert (E : forall k, upd x j (x j) k = x k) by (intros; apply upd_id).
  assert (ER : RMS N 0 (upd x j (x j)) = RMS N 0 x)
    by (unfold RMS; do 3 f_equal; apply sum_ext; intros; now rewrite E).
  eapply D_eq.
  - apply (ma_jacobian_curve N s alpha gam W (fun a => upd x j a) (x j) (at_channel j 1) i Hi);
      [now rewrite ER|apply channel_curve_one].
  - cbv zeta; rewrite along_div, sum_at_channel, ER, !E by easy.
    unfold at_channel, upd, Rdiv; generalize (/ INR N); intros; destruct (Nat.eqb i j); field; lra.
Qed.

Lemma along_self N x : (0 < N)%nat -> 0 < RMS N 0 x -> along N x x = RMS N 0 x.
Proof.
  intros HN HR; rewrite along_div, (sum_ext N _ (fun n => x n ^ 2)) by (intros; ring).
  assert (E := RMS_sq N 0 x (Rle_refl 0)); rewrite Rplus_0_r in E; rewrite <- E; field; lra.
Qed.

(** J x = alpha W, where RMSNorm has 0. *)
Theorem ma_radial N s alpha gam W x k : (k < N)%nat -> 0 < RMS N 0 x ->
  is_derive (fun a => MA N s alpha gam W (fun n => x n + a * x n) k) 0 (alpha * W k).
Proof.
  intros Hk HR; assert (E : forall n, x n + 0 * x n = x n) by (intros; ring).
  assert (ER : RMS N 0 (fun n => x n + 0 * x n) = RMS N 0 x)
    by (unfold RMS; do 3 f_equal; apply sum_ext; intros; now rewrite E).
  assert (EA : along N (fun n => x n + 0 * x n) x = RMS N 0 x).
  { rewrite <- (along_self N x) by (easy || lia); unfold along; rewrite ER; f_equal.
    apply sum_ext; intros; now rewrite E. }
  eapply D_eq.
  - apply (ma_jacobian_curve N s alpha gam W (fun a n => x n + a * x n) 0 x k Hk);
      [now rewrite ER|intros n _; apply D_line].
  - cbv zeta; rewrite EA, ER, E; field; lra.
Qed.

Theorem ma_scaled N s alpha gam W x c k : 0 < c -> 0 < RMS N 0 x ->
  MA N s alpha gam W (fun n => c * x n) k = MA N s alpha gam W x k + alpha * W k * ln c.
Proof.
  intros Hc HR; unfold MA; rewrite RMS_scaled, ln_mult by lra; field; lra.
Qed.

(** The input gradient of a loss with dL/dy = e. *)
Definition ma_grad N s alpha gam W e x i : R :=
  let R := RMS N 0 x in
  (s * gam i * e i - x i / R * (/ INR N * sum N (fun k => e k * (s * gam k * (x k / R) - alpha * W k)))) / R.

Theorem ma_gradient_curve N s alpha gam W e (c : R -> nat -> R) t w :
  0 < RMS N 0 (c t) -> channel_curve N c t w ->
  is_derive (fun a => sum N (fun k => e k * MA N s alpha gam W (c a) k)) t
    (sum N (fun i => ma_grad N s alpha gam W e (c t) i * w i)).
Proof.
  intros HR Hc; eapply D_eq.
  - apply (D_sum N (fun a k => e k * MA N s alpha gam W (c a) k)); intros k Hk.
    apply D_scal; exact (ma_jacobian_curve N s alpha gam W c t w k Hk HR Hc).
  - cbv zeta; unfold ma_grad; set (R := RMS N 0 (c t)) in *; set (A := along N (c t) w).
    set (B := / INR N * sum N (fun k => e k * (s * gam k * (c t k / R) - alpha * W k))).
    rewrite (sum_ext N _ (fun k => s * / R * (e k * gam k * w k)
                                   - A / R * (e k * (s * gam k * (c t k / R) - alpha * W k))))
      by (intros; field; lra).
    rewrite (sum_ext N (fun i => _ / R * w i) (fun i => s * / R * (e i * gam i * w i) - B / R * (c t i / R * w i)))
      by (intros; field; lra).
    rewrite !sum_minus, !sum_scal; unfold A, B, along; fold R; unfold Rdiv; ring.
Qed.

Theorem ma_gradient N s alpha gam W e x i : (i < N)%nat -> 0 < RMS N 0 x ->
  is_derive (fun a => sum N (fun k => e k * MA N s alpha gam W (upd x i a) k)) (x i)
    (ma_grad N s alpha gam W e x i).
Proof.
  intros Hi HR.
  assert (E : forall k, upd x i (x i) k = x k) by (intros; apply upd_id).
  assert (ER : RMS N 0 (upd x i (x i)) = RMS N 0 x)
    by (unfold RMS; do 3 f_equal; apply sum_ext; intros; now rewrite E).
  eapply D_eq.
  - apply (ma_gradient_curve N s alpha gam W e (fun a => upd x i a) (x i) (at_channel i 1));
      [now rewrite ER|apply channel_curve_one].
  - rewrite sum_at_channel by easy; unfold ma_grad; rewrite ER, E.
    rewrite (sum_ext N (fun k => e k * (s * gam k * (upd x i (x i) k / _) - _))
                       (fun k => e k * (s * gam k * (x k / RMS N 0 x) - alpha * W k)))
      by (intros; now rewrite E); ring.
Qed.
