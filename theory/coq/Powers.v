(** Real powers of non-negative numbers, 0^p = 0, and the two inequalities behind the power means.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Derivatives.
Local Open Scope R_scope.

Implicit Types (x y p q : R).

Definition pw x p : R := if Rlt_dec 0 x then Rpower x p else 0.

Lemma pw_Rpower x p : 0 < x -> pw x p = Rpower x p.
Proof. intros H; unfold pw; now destruct (Rlt_dec 0 x). Qed.

Lemma pw_0 p : pw 0 p = 0.
Proof. unfold pw; destruct (Rlt_dec 0 0); [lra|easy]. Qed.

Lemma Rpower_pos x p : 0 < Rpower x p.
Proof. apply exp_pos. Qed.

Lemma pw_pos x p : 0 < x -> 0 < pw x p.
Proof. intros H; rewrite pw_Rpower by easy; apply Rpower_pos. Qed.

Lemma pw_ge0 x p : 0 <= pw x p.
Proof. unfold pw; destruct (Rlt_dec 0 x); [left; apply Rpower_pos|lra]. Qed.

Lemma pw_pos_inv x p : 0 <= x -> 0 < pw x p -> 0 < x.
Proof. intros [H|<-] Hp; [easy|rewrite pw_0 in Hp; lra]. Qed.

Lemma pw_1 x : 0 <= x -> pw x 1 = x.
Proof. intros [H|<-]; [rewrite pw_Rpower by easy; now apply Rpower_1|apply pw_0]. Qed.

Lemma pw_2 x : 0 <= x -> pw x 2 = x ^ 2.
Proof.
  intros [H|<-]; [|rewrite pw_0; ring].
  rewrite pw_Rpower by easy; replace 2 with (INR 2) by (simpl; ring); now rewrite Rpower_pow.
Qed.

Lemma pw_one p : pw 1 p = 1.
Proof. rewrite pw_Rpower by lra; unfold Rpower; rewrite ln_1, Rmult_0_r; apply exp_0. Qed.

Lemma pw_mult x y p : 0 <= x -> 0 <= y -> pw (x * y) p = pw x p * pw y p.
Proof.
  intros [Hx|<-] [Hy|<-]; rewrite ?Rmult_0_l, ?Rmult_0_r, ?pw_0; try ring.
  rewrite !pw_Rpower by nra; now apply eq_sym, Rpower_mult_distr.
Qed.

Lemma pw_pw x p q : 0 <= x -> pw (pw x p) q = pw x (p * q).
Proof.
  intros [H|<-]; [|now rewrite !pw_0].
  rewrite (pw_Rpower x p), (pw_Rpower x (p * q)), pw_Rpower by (easy || apply Rpower_pos).
  apply Rpower_mult.
Qed.

Lemma pw_plus x p q : 0 < x -> pw x (p + q) = pw x p * pw x q.
Proof. intros H; rewrite !pw_Rpower by easy; apply Rpower_plus. Qed.

Lemma pw_inv x p : 0 < x -> pw (/ x) p = / pw x p.
Proof.
  intros H; assert (HI := Rinv_0_lt_compat x H); assert (Hp := pw_pos x p H).
  apply (Rmult_eq_reg_l (pw x p)); [|lra].
  rewrite <- pw_mult, !Rinv_r by lra; apply pw_one.
Qed.

Lemma pw_div x y p : 0 <= x -> 0 < y -> pw (x / y) p = pw x p / pw y p.
Proof.
  intros Hx Hy; unfold Rdiv; rewrite pw_mult, pw_inv; try easy.
  left; now apply Rinv_0_lt_compat.
Qed.

Lemma pw_le x y p : 0 <= x <= y -> 0 <= p -> pw x p <= pw y p.
Proof.
  intros [[Hx|<-] Hxy] Hp; [|rewrite pw_0; apply pw_ge0].
  rewrite !pw_Rpower by lra; now apply Rle_Rpower_l.
Qed.

Lemma pw_lt x y p : 0 <= x < y -> 0 < p -> pw x p < pw y p.
Proof.
  intros [[Hx|<-] Hxy] Hp; [|rewrite pw_0; now apply pw_pos].
  rewrite !pw_Rpower by lra; now apply Rlt_Rpower_l.
Qed.

Lemma pw_inj x y p : 0 < x -> 0 < y -> p <> 0 -> pw x p = pw y p -> x = y.
Proof.
  intros Hx Hy Hp E; rewrite <- (pw_1 x), <- (pw_1 y) by lra.
  replace 1 with (p * / p) by (field; easy); rewrite <- !pw_pw by lra; now rewrite E.
Qed.

(** A larger base than 1 grows with its exponent. *)
Lemma pw_lt_exponent x p q : 1 < x -> p < q -> pw x p < pw x q.
Proof. intros Hx Hpq; rewrite !pw_Rpower by lra; now apply Rpower_lt. Qed.

(** A negative exponent turns the order round. *)
Lemma pw_opp x p : 0 < x -> pw x (- p) = / pw x p.
Proof.
  intros H; rewrite !pw_Rpower by easy; apply Rpower_Ropp.
Qed.

Lemma pw_lt_opp x y p : 0 < x < y -> p < 0 -> pw y p < pw x p.
Proof.
  intros Hx Hp; replace p with (- - p) by ring; rewrite !(pw_opp _ (- p)) by lra.
  assert (A := pw_pos x (- p) ltac:(lra)); assert (B := pw_pos y (- p) ltac:(lra)).
  apply Rinv_lt_contravar; [nra|apply pw_lt; lra].
Qed.

(** A number of [0, 1] shrinks under an exponent of at least 1. *)
Lemma pw_le_self x p : 0 <= x <= 1 -> 1 <= p -> pw x p <= x.
Proof.
  intros [[Hx|<-] Hx1] Hp; [|rewrite pw_0; lra].
  rewrite <- (pw_1 x) at 2 by lra; rewrite !pw_Rpower by easy; unfold Rpower.
  assert (L : ln x <= 0) by (rewrite <- ln_1; now apply ln_le).
  destruct (Req_dec (p * ln x) (1 * ln x)) as [->|N]; [lra|].
  left; apply exp_increasing; nra.
Qed.

(** Bernoulli: the tangent at 1 lies below x^a, for a >= 1. *)
Lemma exp_ge_tangent m u : exp m * (1 + (u - m)) <= exp u.
Proof.
  replace (exp u) with (exp m * exp (u - m)) by (rewrite <- exp_plus; f_equal; ring).
  apply Rmult_le_compat_l; [left; apply exp_pos|].
  destruct (Req_dec (u - m) 0) as [->|N]; [rewrite exp_0; lra|].
  left; now apply exp_ineq1.
Qed.

Lemma bernoulli x a : 0 <= x -> 1 <= a -> 1 + a * (x - 1) <= pw x a.
Proof.
  intros [Hx|<-] Ha; [|rewrite pw_0; lra].
  rewrite pw_Rpower by easy; unfold Rpower; set (l := ln x).
  assert (E : x = exp l) by (unfold l; now rewrite exp_ln).
  assert (T1 := exp_ge_tangent l (a * l)); assert (T0 := exp_ge_tangent l 0).
  rewrite exp_0 in T0; rewrite <- E in T1, T0.
  assert (x * (1 + (a * l - l)) + (a - 1) * (x * (1 + (0 - l))) <= exp (a * l) + (a - 1) * 1).
  { apply Rplus_le_compat; [easy|]; apply Rmult_le_compat_l; lra. }
  lra.
Qed.

Lemma D_pw (f : R -> R) (t df p : R) : is_derive f t df -> 0 < f t ->
  is_derive (fun s => pw (f s) p) t (p * pw (f t) (p - 1) * df).
Proof.
  intros Hf H0.
  assert (L : locally t (fun s => exp (p * ln (f s)) = pw (f s) p)).
  { assert (C := ex_derive_continuous f t (ex_intro _ df Hf)).
    assert (Q : locally (f t) (fun y => 0 < y)) by (apply (open_gt 0); exact H0).
    apply (filter_imp (fun s => 0 < f s)); [|now apply C].
    intros s Hs; now rewrite pw_Rpower. }
  apply (is_derive_ext_loc _ _ t _ L); eapply D_eq.
  - apply (D_exp (fun s => p * ln (f s))); apply D_scal, (D_ln f); eassumption.
  - fold (Rpower (f t) p); rewrite <- pw_Rpower by easy.
    replace p with ((p - 1) + 1) at 2 by ring; rewrite pw_plus, pw_1 by lra; field; lra.
Qed.
