(** Where Eq. 4 needs its two conditions: eps inside the root, and xhat before the affine weight.

    One channel is enough to show it.  Source: section 5.1, Eq. 4; the paper says neither what S_RMS is nor where its
    eps stands.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export RmsGradient.
Local Open Scope R_scope.

Implicit Types (N i : nat) (eps : R) (gam d x : nat -> R).

Lemma RMS_one eps : RMS 1 eps (fun _ => 1) = sqrt (1 + eps).
Proof. unfold RMS; simpl; f_equal; field. Qed.

Lemma RMS_one_0 : RMS 1 0 (fun _ => 1) = 1.
Proof. rewrite RMS_one, Rplus_0_r; apply sqrt_1. Qed.

(** x / (|x| + 1) at x = 1 has the slope 1/4; the formula with x / S for xhat says 3/8. *)
Theorem eq04_eps_refuted :
  ~ (forall N eps gam d x i, (i < N)%nat -> 0 <= eps -> 0 < RMS N 0 x ->
       is_derive (fun a => rms_loss N gam d (RMS N 0 (upd x i a) + eps) (upd x i a)) (x i)
         (let S := RMS N 0 x + eps in (gam i * d i - x i / S * rms_projection N gam d S x) / S)).
Proof.
  intros H; set (e := fun _ : nat => 1); assert (HR : 0 < RMS 1 0 e) by (unfold e; rewrite RMS_one_0; lra).
  assert (D := H 1%nat 1 e e e 0%nat Nat.lt_0_1 Rle_0_1 HR).
  assert (D' := eq04_eps_outside 1 1 e e e 0 Nat.lt_0_1 HR ltac:(lra)).
  assert (E := D_unique _ _ _ _ D D'); cbv zeta in E; unfold rms_projection, e in E; rewrite RMS_one_0 in E.
  simpl in E; field_simplify in E; lra.
Qed.

(** (1/N) sum gamma_k d_k o_k, with o_k = gamma_k x_k / S *)
Definition rms_projection_post N gam d (S : R) x : R := / INR N * sum N (fun k => gam k * d k * (gam k * x k / S)).

(** 2 x / |x| has the slope 0; with gamma counted twice the formula says -2. *)
Theorem eq04_post_affine_refuted :
  ~ (forall N eps gam d x i, (i < N)%nat -> 0 <= eps -> 0 < RMS N eps x ->
       is_derive (fun a => rms_loss N gam d (RMS N eps (upd x i a)) (upd x i a)) (x i)
         (let S := RMS N eps x in (gam i * d i - x i / S * rms_projection_post N gam d S x) / S)).
Proof.
  intros H; set (e := fun _ : nat => 1); assert (HR : 0 < RMS 1 0 e) by (unfold e; rewrite RMS_one_0; lra).
  assert (D := H 1%nat 0 (fun _ => 2) e e 0%nat Nat.lt_0_1 (Rle_refl 0) HR).
  assert (D' := eq04 1 0 (fun _ => 2) e e 0 Nat.lt_0_1 HR).
  assert (E := D_unique _ _ _ _ D D'); cbv zeta in E; unfold rms_projection, rms_projection_post, e in E.
  rewrite RMS_one_0 in E; simpl in E; field_simplify in E; lra.
Qed.
