(** An orthogonal spike: it adds nothing itself, but it enters S, so the whole score falls as 1/A.

    Let q_i = 0 and let A = |v| be the length of a spike v at phasor i with v . k_i = 0.  With W = P S(q), the sum of
    the other magnitudes plus P eps, the score becomes W / (W + A) times what it was.  Corrects appendix B (the spike is
    neutralised).  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export ScoreMean.
Local Open Scope R_scope.

Implicit Types (P i : nat) (eps : R) (q k : nat -> vec) (v : vec).

Theorem veto P eps Sk q k i v : (i < P)%nat -> 0 < S_mean P eps q -> q i = vzero -> dot v (k i) = 0 ->
  let W := INR P * S_mean P eps q in
  score P (S_mean P eps (upd q i v)) Sk (upd q i v) k
  = W / (W + nrm v) * score P (S_mean P eps q) Sk q k.
Proof.
  intros Hi HS Hq Hv W; assert (HP := INR_pos P i Hi); assert (N := nrm_ge0 v).
  assert (E : S_mean P eps (upd q i v) = (W + nrm v) / INR P).
  { unfold W, S_mean; rewrite (sum_upd P i q v (fun _ u => nrm u)), Hq, nrm0 by easy; field; lra. }
  rewrite !score_div, E, (sum_upd P i q v (fun j u => dot u (k j))), Hq, Hv by easy.
  replace (dot vzero (k i)) with 0 by (unfold dot, vzero; simpl; ring).
  assert (HW : 0 < W) by (unfold W; nra).
  rewrite !Rinv_mult; unfold W in *; generalize (/ Sk); intros; field; lra.
Qed.

Corollary veto_falls P eps Sk q k i v : (i < P)%nat -> 0 < S_mean P eps q -> q i = vzero -> dot v (k i) = 0 ->
  nrm v * Rabs (score P (S_mean P eps (upd q i v)) Sk (upd q i v) k)
  <= INR P * S_mean P eps q * Rabs (score P (S_mean P eps q) Sk q k).
Proof.
  intros Hi HS Hq Hv; assert (HP := INR_pos P i Hi); assert (N := nrm_ge0 v).
  rewrite veto by easy; set (W := INR P * S_mean P eps q); assert (HW : 0 < W) by (unfold W; nra).
  assert (Q : 0 < W / (W + nrm v)) by (apply Rdiv_lt_0_compat; lra).
  rewrite Rabs_mult, (Rabs_pos_eq (W / _)), <- Rmult_assoc by lra; apply Rmult_le_compat_r; [apply Rabs_pos|].
  apply (Rmult_le_reg_r (W + nrm v)); [lra|].
  replace (nrm v * (W / (W + nrm v)) * (W + nrm v)) with (nrm v * W) by (field; lra); nra.
Qed.

(** So it is not neutralised: q = ((0,0), (1,0)), k = ((0,1), (1,0)) and the spike (1, 0) have half the score. *)
Theorem veto_refuted :
  ~ (forall P eps Sk q k i v, (i < P)%nat -> 0 <= eps -> 0 < Sk -> 0 < S_mean P eps q -> q i = vzero ->
       dot v (k i) = 0 -> score P (S_mean P eps (upd q i v)) Sk (upd q i v) k = score P (S_mean P eps q) Sk q k).
Proof.
  intros H; set (q := upd (fun _ => vzero) 1%nat (1, 0)); set (k := upd q 0%nat (0, 1)).
  assert (N := nrm_e1).
  assert (S : S_mean 2 0 q = / 2) by (unfold S_mean, q, upd; simpl; rewrite N, nrm0; field).
  assert (O : dot (1, 0) (k 0%nat) = 0) by (unfold k, upd, dot; simpl; ring).
  specialize (H 2%nat 0 1 q k 0%nat (1, 0) Nat.lt_0_2 (Rle_refl 0) Rlt_0_1 ltac:(rewrite S; lra) eq_refl O).
  rewrite veto, S, N in H by (lia || easy || (rewrite S; lra)).
  assert (E : score 2 (/ 2) 1 q k = 2).
  { unfold score, contribution, k, q, upd, dot, vscal, vzero; simpl; field. }
  rewrite E in H; simpl in H; lra.
Qed.
