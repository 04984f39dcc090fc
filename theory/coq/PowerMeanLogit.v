(** Power means as scales, and how large a score they allow: at most P^(2/p) for 0 < p <= 2 and P for p >= 2.

    S_p = (mean r^p)^(1/p), p > 0, eps = 0; p = 1 is Eq. 1 and p = 2 is Eq. 11.  Both bounds are reached.  Generalizes
    appendix B, Eq. 18.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export CauchySchwarz ScoreMean Powers.
Local Open Scope R_scope.

Implicit Types (P : nat) (p : R) (q k z : nat -> vec).

Definition S_pow P p z : R := pw (sum P (fun i => pw (nrm (z i)) p) / INR P) (/ p).

Lemma sum_pw_ge0 P p z : 0 <= sum P (fun i => pw (nrm (z i)) p).
Proof. apply sum_ge0; intros; apply pw_ge0. Qed.

Lemma mean_pw_ge0 P p z : 0 <= sum P (fun i => pw (nrm (z i)) p) / INR P.
Proof.
  unfold Rdiv; destruct P as [|n]; [simpl; lra|].
  apply Rmult_le_pos; [apply sum_pw_ge0|left; apply Rinv_0_lt_compat, lt_0_INR; lia].
Qed.

Lemma S_pow_pw P p z : 0 < p -> pw (S_pow P p z) p = sum P (fun i => pw (nrm (z i)) p) / INR P.
Proof.
  intros Hp; unfold S_pow; rewrite pw_pw by apply mean_pw_ge0.
  replace (/ p * p) with 1 by (field; lra); apply pw_1, mean_pw_ge0.
Qed.

Theorem S_pow_1 P z : S_pow P 1 z = S_mean P 0 z.
Proof.
  unfold S_pow, S_mean; rewrite Rinv_1, pw_1, Rplus_0_r by apply mean_pw_ge0.
  f_equal; apply sum_ext; intros; apply pw_1, nrm_ge0.
Qed.

Theorem S_pow_2 P z : S_pow P 2 z = S_rms P 0 z.
Proof.
  assert (E : sum P (fun i => pw (nrm (z i)) 2) = sum P (fun i => nrm (z i) ^ 2))
    by (apply sum_ext; intros; apply pw_2, nrm_ge0).
  apply Rsqr_inj; [apply pw_ge0|apply sqrt_pos|]; rewrite !Rsqr_pow2, <- (pw_2 (S_pow P 2 z)) by apply pw_ge0.
  rewrite S_pow_pw, S_rms_sq, E by lra; ring.
Qed.

(** ** p <= 2: sum r^2 <= (sum r^p)^(2/p), each share of the sum being at most 1 *)

Lemma energy_low P p z : (0 < P)%nat -> 0 < p <= 2 ->
  sum P (fun i => nrm (z i) ^ 2) <= pw (INR P) (2 / p) * S_pow P p z ^ 2.
Proof.
  intros HP [Hp H2]; assert (HP' := lt_0_INR P HP); assert (G := sum_pw_ge0 P p z).
  set (s := sum P (fun i => pw (nrm (z i)) p)) in *.
  assert (E : pw (INR P) (2 / p) * S_pow P p z ^ 2 = pw s (2 / p)).
  { unfold S_pow; fold s; rewrite <- pw_2, pw_pw by (apply pw_ge0 || apply mean_pw_ge0).
    replace (/ p * 2) with (2 / p) by (field; lra).
    rewrite <- pw_mult by (lra || apply mean_pw_ge0); f_equal; field; lra. }
  rewrite E; destruct G as [G|G].
  - apply Rle_trans with (sum P (fun i => pw s (2 / p) * (pw (nrm (z i)) p / s))).
    + apply sum_le; intros i Hi.
      assert (Hr : pw (nrm (z i)) p <= s)
        by (apply (sum_ge_term P i (fun j => pw (nrm (z j)) p) Hi); intros; apply pw_ge0).
      assert (Hw : 0 <= pw (nrm (z i)) p / s <= 1).
      { split; [apply Rmult_le_pos; [apply pw_ge0|left; now apply Rinv_0_lt_compat]|].
        apply (Rmult_le_reg_r s); [easy|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
      assert (Ha : 1 <= 2 / p).
      { apply (Rmult_le_reg_r p); [easy|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra. }
      assert (B := pw_le_self _ _ Hw Ha).
      rewrite pw_div, pw_pw in B by (apply nrm_ge0 || apply pw_ge0 || easy).
      replace (p * (2 / p)) with 2 in B by (field; lra); rewrite pw_2 in B by apply nrm_ge0.
      apply (Rmult_le_compat_l (pw s (2 / p))) in B; [|apply pw_ge0].
      replace (pw s (2 / p) * (nrm (z i) ^ 2 / pw s (2 / p))) with (nrm (z i) ^ 2) in B; [easy|].
      field; apply Rgt_not_eq; now apply pw_pos.
    + rewrite sum_scal; unfold Rdiv at 2; rewrite sum_scal_r; fold s; rewrite Rinv_r; lra.
  - rewrite <- G, pw_0; apply Req_le; rewrite (sum_ext P _ (fun _ => 0)), sum_const; [ring|].
    intros i Hi; assert (Z := sum_eq0 P _ (fun j _ => pw_ge0 (nrm (z j)) p) (eq_sym G) i Hi); cbv beta in Z.
    destruct (nrm_ge0 (z i)) as [H|<-]; [assert (D := pw_pos _ p H); lra|ring].
Qed.

(** ** p >= 2: mean r^2 <= S_p^2, by Bernoulli's inequality at r^2 / mean r^2 *)

Lemma energy_high P p z : (0 < P)%nat -> 2 <= p ->
  sum P (fun i => nrm (z i) ^ 2) <= INR P * S_pow P p z ^ 2.
Proof.
  intros HP Hp; assert (HP' := lt_0_INR P HP); assert (G := sum_sq_ge0 P (fun i => nrm (z i))).
  set (s := sum P (fun i => nrm (z i) ^ 2)) in *.
  destruct G as [G|<-]; [|apply Rmult_le_pos; [lra|apply pow2_ge_0]].
  set (m := s / INR P); assert (Hm : 0 < m) by now apply Rdiv_lt_0_compat.
  assert (B : INR P <= sum P (fun i => pw (nrm (z i) ^ 2 / m) (p / 2))).
  { replace (INR P) with (sum P (fun i => 1 + p / 2 * (nrm (z i) ^ 2 / m - 1))).
    - apply sum_le; intros i _; apply bernoulli; [|lra].
      apply Rmult_le_pos; [apply pow2_ge_0|left; now apply Rinv_0_lt_compat].
    - rewrite sum_plus, sum_const, sum_scal, sum_minus, sum_const; unfold Rdiv at 2; rewrite sum_scal_r.
      fold s; unfold m; field; lra. }
  assert (E : sum P (fun i => pw (nrm (z i) ^ 2 / m) (p / 2)) = INR P * (pw (S_pow P p z) p / pw m (p / 2))).
  { rewrite S_pow_pw by lra; transitivity (sum P (fun i => pw (nrm (z i)) p * / pw m (p / 2))).
    - apply sum_ext; intros i _; rewrite pw_div, <- pw_2, pw_pw by (apply nrm_ge0 || apply pow2_ge_0 || easy).
      unfold Rdiv; do 2 f_equal; field.
    - rewrite sum_scal_r; assert (D := pw_pos m (p / 2) Hm); field; lra. }
  assert (L : pw m (p / 2) <= pw (S_pow P p z) p).
  { assert (D := pw_pos m (p / 2) Hm); apply (Rmult_le_reg_l (INR P * / pw m (p / 2))).
    - apply Rmult_lt_0_compat; [easy|now apply Rinv_0_lt_compat].
    - rewrite E in B; rewrite Rmult_assoc, Rinv_l by lra; unfold Rdiv in B; lra. }
  assert (Q : m <= S_pow P p z ^ 2).
  { rewrite <- (pw_1 m), <- pw_2 by (apply pw_ge0 || lra).
    replace 1 with (p / 2 * (2 / p)) by (field; lra); replace 2 with (p * (2 / p)) at 3 by (field; lra).
    rewrite <- !pw_pw by (apply pw_ge0 || lra); apply pw_le; [split; [apply pw_ge0|easy]|].
    left; apply Rdiv_lt_0_compat; lra. }
  apply (Rmult_le_compat_l (INR P)) in Q; [|lra]; unfold m in Q.
  replace (INR P * (s / INR P)) with s in Q by (field; lra); easy.
Qed.

(** ** The bounds *)

Theorem power_mean_low P p q k : (0 < P)%nat -> 0 < p <= 2 -> 0 < S_pow P p q -> 0 < S_pow P p k ->
  Rabs (score P (S_pow P p q) (S_pow P p k) q k) <= pw (INR P) (2 / p).
Proof. intros HP Hp Hq Hk; apply score_from_energies; auto using pw_ge0, energy_low. Qed.

Theorem power_mean_high P p q k : (0 < P)%nat -> 2 <= p -> 0 < S_pow P p q -> 0 < S_pow P p k ->
  Rabs (score P (S_pow P p q) (S_pow P p k) q k) <= INR P.
Proof. intros HP Hp Hq Hk; apply score_from_energies; auto using pos_INR, energy_high. Qed.

Lemma S_pow_spike P p : (0 < P)%nat -> 0 < p -> S_pow P p (spike 1) ^ 2 = pw (/ INR P) (2 / p).
Proof.
  intros HP Hp; unfold S_pow.
  rewrite (sum_spike P 1 (fun u => pw (nrm u) p)) by (easy || (rewrite nrm0; apply pw_0)).
  rewrite <- spike_0, nrm_spike, pw_one by lra; unfold Rdiv at 1; rewrite Rmult_1_l.
  apply lt_0_INR in HP; rewrite <- pw_2, pw_pw by (apply pw_ge0 || (left; now apply Rinv_0_lt_compat)).
  f_equal; field; lra.
Qed.

(** One phasor carries everything. *)
Theorem power_mean_low_tight P p : (0 < P)%nat -> 0 < p ->
  exists q, 0 < S_pow P p q /\ score P (S_pow P p q) (S_pow P p q) q q = pw (INR P) (2 / p).
Proof.
  intros HP Hp; assert (HP' := lt_0_INR P HP); exists (spike 1).
  assert (E := S_pow_spike P p HP Hp); rewrite pw_inv in E by easy.
  assert (Q := pw_pos (INR P) (2 / p) HP'); assert (I := Rinv_0_lt_compat _ Q).
  assert (H0 : 0 <= S_pow P p (spike 1)) by apply pw_ge0.
  split; [destruct H0 as [H0|H0]; [easy|rewrite <- H0 in E; lra]|].
  rewrite score_self, (sum_spike P 1 (fun u => nrm u ^ 2)) by (easy || (rewrite nrm0; ring)).
  rewrite <- spike_0, nrm_spike by lra.
  replace (S_pow P p (spike 1) * S_pow P p (spike 1)) with (S_pow P p (spike 1) ^ 2) by ring.
  rewrite E, Rinv_inv; ring.
Qed.

(** All magnitudes are equal. *)
Theorem power_mean_high_tight P p : (0 < P)%nat -> 0 < p ->
  exists q, 0 < S_pow P p q /\ score P (S_pow P p q) (S_pow P p q) q q = INR P.
Proof.
  intros HP Hp; assert (HP' := lt_0_INR P HP).
  assert (N := nrm_e1).
  exists (fun _ => (1, 0)).
  assert (E : S_pow P p (fun _ => (1, 0)) = 1).
  { unfold S_pow; rewrite N, pw_one, sum_const.
    replace (INR P * 1 / INR P) with 1 by (field; lra); apply pw_one. }
  rewrite E; split; [lra|]; rewrite score_self, N, sum_const; field.
Qed.

(** For P >= 2 and p < 2 the first bound exceeds P: the d/2 of appendix B needs p >= 2. *)
Theorem power_mean_above P p : (2 <= P)%nat -> 0 < p < 2 -> INR P < pw (INR P) (2 / p).
Proof.
  intros HP Hp; assert (H := le_INR _ _ HP); simpl in H.
  rewrite <- (pw_1 (INR P)) at 1 by lra; apply pw_lt_exponent; [lra|].
  apply (Rmult_lt_reg_r p); [lra|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra.
Qed.
