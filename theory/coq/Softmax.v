(** How much of the attention one key can take when the logits differ by at most D.

    The largest weight of n keys is at most 1 / (1 + (n-1) e^-D), and one key at the top with the others D below it
    takes that much.  Source: section 5.3 and appendix B (the bound of Eq. 18 keeps the softmax from collapsing).  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export ScoreRms.
Local Open Scope R_scope.

Implicit Types (n i k P : nat) (D eps : R) (a : nat -> R).

Definition weight n a i : R := exp (a i) / sum n (fun k => exp (a k)).

Lemma sum_exp_pos n a i : (i < n)%nat -> 0 < sum n (fun k => exp (a k)).
Proof.
  intros Hi; apply (Rlt_le_trans _ (exp (a i))); [apply exp_pos|].
  apply (sum_ge_term n i (fun k => exp (a k)) Hi); intros; left; apply exp_pos.
Qed.

Lemma others_at_least n i (b : R) (f : nat -> R) : (i < n)%nat ->
  (forall k, (k < n)%nat -> k <> i -> b <= f k) -> f i + (INR n - 1) * b <= sum n f.
Proof.
  intros Hi H; rewrite (sum_split n i f) by easy; apply Rplus_le_compat_l.
  replace ((INR n - 1) * b) with (sum n (fun k => if Nat.eqb k i then 0 else b)).
  - apply sum_le; intros k Hk; destruct (Nat.eqb_spec k i); [lra|now apply H].
  - assert (E := sum_split n i (fun _ => b) Hi); rewrite sum_const in E; lra.
Qed.

Theorem largest_weight n a i D : (i < n)%nat -> (forall k, (k < n)%nat -> a i - a k <= D) ->
  weight n a i <= 1 / (1 + (INR n - 1) * exp (- D)).
Proof.
  intros Hi H; assert (S := sum_exp_pos n a i Hi); assert (E := exp_pos (a i)); assert (ED := exp_pos (- D)).
  assert (HN := le_INR 1 n ltac:(lia)); simpl (INR 1) in HN.
  assert (B : exp (a i) * (1 + (INR n - 1) * exp (- D)) <= sum n (fun k => exp (a k))).
  { eapply Rle_trans; [|apply (others_at_least n i (exp (a i) * exp (- D)) (fun k => exp (a k)) Hi)]; [lra|].
    intros k Hk _; rewrite <- exp_plus; specialize (H k Hk).
    destruct (Req_dec (a i + - D) (a k)) as [->|N]; [lra|left; apply exp_increasing; lra]. }
  assert (Q : 0 < 1 + (INR n - 1) * exp (- D)) by nra.
  unfold weight; apply (Rmult_le_reg_r (sum n (fun k => exp (a k)))); [easy|].
  unfold Rdiv; rewrite Rmult_assoc, Rinv_l, Rmult_1_r, Rmult_1_l by lra.
  apply (Rmult_le_reg_l (1 + (INR n - 1) * exp (- D))); [easy|].
  rewrite <- Rmult_assoc, Rinv_r by lra; lra.
Qed.

(** One key at the top, the others D below it. *)
Theorem largest_weight_tight n D : (0 < n)%nat ->
  weight n (fun k => if Nat.eqb k 0 then 0 else - D) 0 = 1 / (1 + (INR n - 1) * exp (- D)).
Proof.
  intros Hn; unfold weight; simpl (Nat.eqb 0 0); cbv iota; rewrite exp_0; f_equal.
  rewrite (sum_split n 0 (fun k => exp (if Nat.eqb k 0 then 0 else - D))) by easy.
  cbn [Nat.eqb]; rewrite exp_0; f_equal.
  assert (E := sum_split n 0 (fun _ => exp (- D)) Hn); rewrite sum_const in E.
  rewrite (sum_ext n _ (fun j => if Nat.eqb j 0 then 0 else exp (- D))) by (intros [|j] _; reflexivity); lra.
Qed.

(** Under Eq. 11 the logits score / sqrt d of one query differ by at most sqrt d, d = 2P. *)
Theorem spread_rms P eps (q k k' : nat -> vec) : (0 < P)%nat -> 0 <= eps ->
  0 < S_rms P eps q -> 0 < S_rms P eps k -> 0 < S_rms P eps k' ->
  score P (S_rms P eps q) (S_rms P eps k) q k / sqrt (INR (2 * P))
  - score P (S_rms P eps q) (S_rms P eps k') q k' / sqrt (INR (2 * P)) <= sqrt (INR (2 * P)).
Proof.
  intros HP He Hq Hk Hk'.
  assert (B := score_rms_bound_d P (2 * P) eps q k HP eq_refl He Hq Hk).
  assert (B' := score_rms_bound_d P (2 * P) eps q k' HP eq_refl He Hq Hk').
  set (s := score P _ _ q k) in *; set (s' := score P _ _ q k') in *.
  assert (HD : 0 < INR (2 * P)) by (apply lt_0_INR; lia); assert (G := sqrt_lt_R0 _ HD).
  apply (Rmult_le_reg_r (sqrt (INR (2 * P)))); [easy|]; rewrite sqrt_sqrt by lra.
  replace ((s / sqrt (INR (2 * P)) - s' / sqrt (INR (2 * P))) * sqrt (INR (2 * P))) with (s - s') by (field; lra).
  assert (D := Rle_abs s); assert (D' := Rle_abs (- s')); rewrite Rabs_Ropp in D'; lra.
Qed.

(** So the largest weight of any query and n keys is bounded, with D = sqrt d. *)
Theorem largest_weight_rms P eps n (q : nat -> vec) (keys : nat -> nat -> vec) i :
  (0 < P)%nat -> 0 <= eps -> (i < n)%nat ->
  0 < S_rms P eps q -> (forall j, (j < n)%nat -> 0 < S_rms P eps (keys j)) ->
  weight n (fun j => score P (S_rms P eps q) (S_rms P eps (keys j)) q (keys j) / sqrt (INR (2 * P))) i
  <= 1 / (1 + (INR n - 1) * exp (- sqrt (INR (2 * P)))).
Proof. intros HP He Hi Hq Hk; apply largest_weight; [easy|]; intros j Hj; apply spread_rms; auto. Qed.
