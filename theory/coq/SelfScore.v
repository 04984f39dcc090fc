(** The score of a vector with itself under Eq. 1.

    score(q, q) = P rms(r)^2 / S^2, so it is at least P = d/2 exactly when the root mean square of the magnitudes is at
    least S; at eps = 0 that is every non-zero vector, strictly unless all magnitudes are equal.  The bound of Eq. 18
    therefore fails not in a corner but at every such q.  Completes appendix B, Eq. 18.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Comparison ScoreRms.
Local Open Scope R_scope.

Implicit Types (P : nat) (eps : R) (q : nat -> vec).

Theorem self_score_excess P eps q : (0 < P)%nat -> 0 < S_mean P eps q ->
  score P (S_mean P eps q) (S_mean P eps q) q q - INR P
  = INR P * (S_rms P 0 q ^ 2 - S_mean P eps q ^ 2) / S_mean P eps q ^ 2.
Proof. intros HP HS; rewrite score_self, (sum_nrm_sq P 0) by (easy || lra); field; lra. Qed.

Theorem self_score_eps P eps q : (0 < P)%nat -> 0 < S_mean P eps q ->
  INR P <= score P (S_mean P eps q) (S_mean P eps q) q q <-> S_mean P eps q <= S_rms P 0 q.
Proof.
  intros HP HS; assert (E := self_score_excess P eps q HP HS); assert (HP' := lt_0_INR P HP).
  assert (R := sqrt_pos (sum P (fun i => nrm (q i) ^ 2) / INR P + 0)); fold (S_rms P 0 q) in R.
  set (S := S_mean P eps q) in *; set (T := S_rms P 0 q) in *.
  assert (I : 0 < INR P * / S ^ 2) by (apply Rmult_lt_0_compat; [easy|apply Rinv_0_lt_compat; nra]).
  replace (INR P * (T ^ 2 - S ^ 2) / S ^ 2) with (INR P * / S ^ 2 * (T ^ 2 - S ^ 2)) in E by (field; lra).
  split; intros H.
  - apply Rnot_lt_le; intros L; assert (T ^ 2 - S ^ 2 < 0) by nra; nra.
  - assert (0 <= T ^ 2 - S ^ 2) by nra; nra.
Qed.

Theorem self_score P q : (0 < P)%nat -> 0 < S_mean P 0 q ->
  INR P <= score P (S_mean P 0 q) (S_mean P 0 q) q q /\
  (score P (S_mean P 0 q) (S_mean P 0 q) q q = INR P <-> equal_magnitudes P q).
Proof.
  intros HP HS; destruct (mean_le_rms P q HP) as [L [Eq1 Eq2]]; split; [now apply self_score_eps|].
  assert (E := self_score_excess P 0 q HP HS); assert (HP' := lt_0_INR P HP).
  set (S := S_mean P 0 q) in *; set (T := S_rms P 0 q) in *; split; intros H.
  - apply Eq1; rewrite H, Rminus_diag_eq in E by reflexivity.
    assert (Z : T ^ 2 - S ^ 2 = 0).
    { apply (Rmult_eq_reg_l (INR P / S ^ 2)); [unfold Rdiv in *; lra|].
      apply Rgt_not_eq, Rdiv_lt_0_compat; nra. }
    nra.
  - apply Rminus_diag_uniq; rewrite E, <- (Eq2 H); field; lra.
Qed.
