(** The mean magnitude against the root mean square: how far apart the two scales can be.

    With rms(h) the root mean square of all 2P channels, and S the scale of Eq. 1,

        sqrt(2/P) rms(h) <= S - eps <= sqrt(2) rms(h).

    Both sides are sharp: on the left equality holds exactly when at most one phasor is non-zero, on the right exactly
    when all magnitudes are equal.  Source: section 3, Eq. 1; section 2.1 compares the two under an outlier.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Scales.
Local Open Scope R_scope.

Implicit Types (P : nat) (eps : R) (z : nat -> vec).

Definition rms P z : R := RMS (2 * P) 0 (channels z).

(** At most one of the P phasors is non-zero; all of them are equally long. *)
Definition lone P z : Prop :=
  forall i j, (i < P)%nat -> (j < P)%nat -> i <> j -> z i = vzero \/ z j = vzero.
Definition equal_magnitudes P z : Prop :=
  forall i j, (i < P)%nat -> (j < P)%nat -> nrm (z i) = nrm (z j).

Lemma rms_sq P z : (0 < P)%nat -> 2 * INR P * rms P z ^ 2 = sum P (fun i => nrm (z i) ^ 2).
Proof.
  intros HP%lt_0_INR; unfold rms; rewrite RMS_sq, sum_channels_sq, mult_INR by lra.
  simpl (INR 2); field; lra.
Qed.

(** The sum of squares is at most the square of the sum; what is missing are products of two magnitudes. *)
Lemma sum_sq_le P f : (forall i, (i < P)%nat -> 0 <= f i) ->
  sum P (fun i => f i ^ 2) <= sum P f ^ 2.
Proof.
  intros H; replace (sum P f ^ 2) with (sum P f * sum P f) by ring.
  rewrite (sum_ext P _ (fun i => f i * f i)) by (intros; ring).
  now apply sum_mult_le.
Qed.

Lemma sum_sq_le_eq P f : (forall i, (i < P)%nat -> 0 <= f i) ->
  sum P (fun i => f i ^ 2) = sum P f ^ 2 <->
  (forall i j, (i < P)%nat -> (j < P)%nat -> i <> j -> f i = 0 \/ f j = 0).
Proof.
  intros H; induction P as [|n IH]; [simpl; split; intros; [lia|ring]|].
  assert (Hn : forall i, (i < n)%nat -> 0 <= f i) by auto.
  specialize (IH Hn); cbn [sum].
  assert (L := sum_sq_le n f Hn); assert (G := sum_ge0 n f Hn); assert (F := H n (Nat.lt_succ_diag_r n)).
  split.
  - intros E.
    assert (E1 : sum n f * f n = 0) by nra.
    assert (E2 : sum n (fun i => f i ^ 2) = sum n f ^ 2) by nra.
    assert (E3 := proj1 IH E2); intros i j Hi Hj Hne.
    assert (Z : sum n f = 0 \/ f n = 0) by now apply Rmult_integral.
    assert (A : forall k, (k < n)%nat -> f k = 0 \/ f n = 0).
    { intros k Hk; destruct Z as [Z|Z]; [left; exact (sum_eq0 n f Hn Z k Hk)|now right]. }
    destruct (Nat.eq_dec i n) as [->|]; [destruct (A j); [lia|now right|now left]|].
    destruct (Nat.eq_dec j n) as [->|]; [destruct (A i); [lia|now left|now right]|].
    apply (E3 i j); lia.
  - intros A; rewrite (proj2 IH) by (intros; apply A; lia).
    enough (sum n f * f n = 0) by lra.
    destruct (Req_dec (f n) 0) as [->|Z]; [ring|].
    rewrite (sum_ext n f (fun _ => 0)), sum_const; [ring|].
    intros i Hi; destruct (A i n); [lia..|easy|easy].
Qed.

Lemma nrm_lone P z : lone P z <->
  (forall i j, (i < P)%nat -> (j < P)%nat -> i <> j -> nrm (z i) = 0 \/ nrm (z j) = 0).
Proof.
  split; intros H i j Hi Hj Hne; destruct (H i j Hi Hj Hne) as [E|E].
  - left; now rewrite E, nrm0.
  - right; now rewrite E, nrm0.
  - left; now apply nrm_eq0.
  - right; now apply nrm_eq0.
Qed.

(** Squares, where the constants are rational. *)
Lemma mean_sq_lower P eps z : (0 < P)%nat -> 2 / INR P * rms P z ^ 2 <= (S_mean P eps z - eps) ^ 2.
Proof.
  intros HP; assert (Q := sum_sq_le P (fun i => nrm (z i)) (fun i _ => nrm_ge0 (z i))).
  cbv beta in Q; rewrite <- rms_sq, (sum_nrm P eps) in Q by easy; apply lt_0_INR in HP.
  apply (Rmult_le_reg_l (INR P ^ 2)); [nra|].
  replace (INR P ^ 2 * (2 / INR P * rms P z ^ 2)) with (2 * INR P * rms P z ^ 2) by (field; lra); nra.
Qed.

Lemma mean_sq_lower_eq P eps z : (0 < P)%nat ->
  2 / INR P * rms P z ^ 2 = (S_mean P eps z - eps) ^ 2 <-> lone P z.
Proof.
  intros HP; rewrite nrm_lone, <- (sum_sq_le_eq P (fun i => nrm (z i)) (fun i _ => nrm_ge0 (z i))).
  rewrite <- rms_sq, (sum_nrm P eps) by easy; apply lt_0_INR in HP.
  assert (E : INR P ^ 2 * (2 / INR P * rms P z ^ 2) = 2 * INR P * rms P z ^ 2) by (field; lra).
  split; intros H; [rewrite <- E, H; ring|].
  apply (Rmult_eq_reg_l (INR P ^ 2)); [lra|nra].
Qed.

Lemma mean_sq_upper_spread P eps z : (0 < P)%nat ->
  2 * rms P z ^ 2 = (S_mean P eps z - eps) ^ 2
                    + sum P (fun i => (nrm (z i) - (S_mean P eps z - eps)) ^ 2) / INR P.
Proof.
  intros HP; assert (E := sum_spread P (fun i => nrm (z i)) _ (sum_nrm P eps z HP)).
  cbv beta in E; rewrite <- rms_sq in E by easy; apply lt_0_INR in HP.
  apply (Rmult_eq_reg_l (INR P)); [|lra].
  replace (INR P * (2 * rms P z ^ 2)) with (2 * INR P * rms P z ^ 2) by ring; rewrite E; field; lra.
Qed.

Lemma mean_sq_upper P eps z : (0 < P)%nat -> (S_mean P eps z - eps) ^ 2 <= 2 * rms P z ^ 2.
Proof.
  intros HP; rewrite (mean_sq_upper_spread P eps) by easy; apply lt_0_INR in HP.
  enough (0 <= sum P (fun i => (nrm (z i) - (S_mean P eps z - eps)) ^ 2) / INR P) by lra.
  apply Rmult_le_pos; [apply sum_sq_ge0|left; now apply Rinv_0_lt_compat].
Qed.

Lemma mean_sq_upper_eq P eps z : (0 < P)%nat ->
  (S_mean P eps z - eps) ^ 2 = 2 * rms P z ^ 2 <-> equal_magnitudes P z.
Proof.
  intros HP; assert (E := mean_sq_upper_spread P eps z HP); assert (HP' := lt_0_INR P HP).
  set (m := S_mean P eps z - eps) in *; split; intros H.
  - assert (Z : sum P (fun i => (nrm (z i) - m) ^ 2) = 0).
    { apply (Rmult_eq_reg_r (/ INR P)); [fold (sum P (fun i => (nrm (z i) - m) ^ 2) / INR P); lra|].
      now apply Rinv_neq_0_compat, Rgt_not_eq. }
    assert (A : forall i, (i < P)%nat -> nrm (z i) = m).
    { intros i Hi; assert (D := sum_eq0 P _ (fun j _ => pow2_ge_0 (nrm (z j) - m)) Z i Hi).
      cbv beta in D; nra. }
    intros i j Hi Hj; rewrite !A by easy; reflexivity.
  - assert (M : m = nrm (z 0%nat)).
    { apply (Rmult_eq_reg_l (INR P)); [|lra]; unfold m.
      rewrite <- sum_nrm, <- sum_const by easy; apply sum_ext; intros; now apply H. }
    rewrite E, (sum_ext P _ (fun _ => 0)), sum_const; [field; lra|].
    intros i Hi; rewrite M, (H i 0%nat) by easy; ring.
Qed.

(** ** The statement with its roots *)

Lemma rms_ge0 P z : 0 <= rms P z.
Proof. apply sqrt_pos. Qed.

Lemma mean_ge0 P eps z : (0 < P)%nat -> 0 <= S_mean P eps z - eps.
Proof. intros HP; assert (D := S_mean_ge_eps P eps z HP); lra. Qed.

Lemma root_sq c x : 0 <= c -> (sqrt c * x) ^ 2 = c * x ^ 2.
Proof. intros Hc; rewrite Rpow_mult_distr, pow2_sqrt; easy. Qed.

Lemma sq_le a b : 0 <= b -> a ^ 2 <= b ^ 2 -> a <= b.
Proof. intros Hb H; apply Rnot_lt_le; intros L; nra. Qed.

Lemma sq_eq a b : 0 <= a -> 0 <= b -> a ^ 2 = b ^ 2 <-> a = b.
Proof. intros Ha Hb; split; [intros H; nra|now intros ->]. Qed.

Lemma two_over_pos P : (0 < P)%nat -> 0 <= 2 / INR P.
Proof. intros HP%lt_0_INR; left; apply Rdiv_lt_0_compat; lra. Qed.

Theorem mean_lower P eps z : (0 < P)%nat -> sqrt (2 / INR P) * rms P z <= S_mean P eps z - eps.
Proof.
  intros HP; apply sq_le; [now apply mean_ge0|].
  rewrite root_sq by now apply two_over_pos. now apply mean_sq_lower.
Qed.

Theorem mean_lower_sharp P eps z : (0 < P)%nat ->
  sqrt (2 / INR P) * rms P z = S_mean P eps z - eps <-> lone P z.
Proof.
  intros HP; rewrite <- (mean_sq_lower_eq P eps), <- root_sq by (easy || now apply two_over_pos).
  symmetry; apply sq_eq; [|now apply mean_ge0].
  apply Rmult_le_pos; [apply sqrt_pos|apply rms_ge0].
Qed.

Theorem mean_upper P eps z : (0 < P)%nat -> S_mean P eps z - eps <= sqrt 2 * rms P z.
Proof.
  intros HP; apply sq_le; [apply Rmult_le_pos; [apply sqrt_pos|apply rms_ge0]|].
  rewrite root_sq by lra. now apply mean_sq_upper.
Qed.

Theorem mean_upper_sharp P eps z : (0 < P)%nat ->
  S_mean P eps z - eps = sqrt 2 * rms P z <-> equal_magnitudes P z.
Proof.
  intros HP; rewrite <- (mean_sq_upper_eq P eps), <- root_sq by (easy || lra).
  symmetry; apply sq_eq; [now apply mean_ge0|].
  apply Rmult_le_pos; [apply sqrt_pos|apply rms_ge0].
Qed.

(** Eq. 11 is never smaller than Eq. 1, and equal exactly for equal magnitudes: at eps = 0. *)
Lemma S_rms_rms P z : (0 < P)%nat -> S_rms P 0 z = sqrt 2 * rms P z.
Proof.
  intros HP; apply sq_eq; [apply sqrt_pos|apply Rmult_le_pos; [apply sqrt_pos|apply rms_ge0]|].
  rewrite root_sq, S_rms_sq, <- rms_sq by (easy || lra); apply lt_0_INR in HP; field; lra.
Qed.

Theorem mean_le_rms P z : (0 < P)%nat ->
  S_mean P 0 z <= S_rms P 0 z /\ (S_mean P 0 z = S_rms P 0 z <-> equal_magnitudes P z).
Proof.
  intros HP; rewrite S_rms_rms by easy; assert (U := mean_upper P 0 z HP); assert (E := mean_upper_sharp P 0 z HP).
  rewrite Rminus_0_r in U, E; split; [lra|exact E].
Qed.

(** Squared and in energies: Eq. 1 turns the energy identity of appendix B into this inequality. *)
Theorem energy_mean P z : (0 < P)%nat ->
  INR P * S_mean P 0 z ^ 2 <= sum P (fun i => nrm (z i) ^ 2) /\
  (INR P * S_mean P 0 z ^ 2 = sum P (fun i => nrm (z i) ^ 2) <-> equal_magnitudes P z).
Proof.
  intros HP; rewrite <- rms_sq by easy; assert (U := mean_sq_upper P 0 z HP); assert (E := mean_sq_upper_eq P 0 z HP).
  rewrite Rminus_0_r in U, E; apply lt_0_INR in HP; rewrite <- E; split; [nra|split; intros H; [|nra]].
  apply (Rmult_eq_reg_l (INR P)); lra.
Qed.

(** So Eqs. 1 and 11 do not define the same scale: one phasor (1, 0) beside one that is 0. *)
Theorem eq11_refuted : ~ (forall P z, (0 < P)%nat -> S_mean P 0 z = S_rms P 0 z).
Proof.
  intros H; destruct (mean_le_rms 2 (upd (fun _ => vzero) 0%nat (1, 0)) Nat.lt_0_2) as [_ [E _]].
  assert (N := E (H 2%nat _ Nat.lt_0_2) 0%nat 1%nat Nat.lt_0_2 Nat.lt_1_2); unfold upd in N; simpl in N.
  rewrite nrm0, nrm_e1 in N; lra.
Qed.

(** ** The relief from an outlier: S_RMS / S, between 1 / sqrt 2 and sqrt N / 2 *)

Lemma ratio_bound a b c : 0 < b -> 0 < c -> (a / b <= / c <-> c * a <= b) /\ (/ c <= a / b <-> b <= c * a).
Proof.
  intros Hb Hc; assert (E : a / b - / c = (c * a - b) * / (b * c)) by (field; lra).
  assert (I : 0 < / (b * c)) by (apply Rinv_0_lt_compat; nra).
  repeat split; intros H; try (apply Rnot_lt_le; intros L); nra.
Qed.

Lemma sqrt_half_channels P : (0 < P)%nat -> sqrt (INR (2 * P)) / 2 = / sqrt (2 / INR P).
Proof.
  intros HP%lt_0_INR; rewrite mult_INR; replace (INR 2) with 2 by (simpl; ring).
  assert (H : 0 < 2 / INR P) by (apply Rdiv_lt_0_compat; lra).
  assert (G := sqrt_lt_R0 _ H); replace (2 * INR P) with (2 * 2 / (2 / INR P)) by (field; lra).
  rewrite sqrt_div_alt, sqrt_square by lra; field; lra.
Qed.

Theorem relief P z : (0 < P)%nat -> 0 < S_mean P 0 z ->
  / sqrt 2 <= rms P z / S_mean P 0 z <= sqrt (INR (2 * P)) / 2 /\
  (/ sqrt 2 = rms P z / S_mean P 0 z <-> equal_magnitudes P z) /\
  (rms P z / S_mean P 0 z = sqrt (INR (2 * P)) / 2 <-> lone P z).
Proof.
  intros HP HS; assert (HP' := lt_0_INR P HP); rewrite sqrt_half_channels by easy.
  assert (G2 : 0 < sqrt 2) by (apply sqrt_lt_R0; lra).
  assert (GP : 0 < sqrt (2 / INR P)) by (apply sqrt_lt_R0, Rdiv_lt_0_compat; lra).
  assert (L := mean_lower P 0 z HP); assert (U := mean_upper P 0 z HP).
  assert (EL := mean_lower_sharp P 0 z HP); assert (EU := mean_upper_sharp P 0 z HP).
  rewrite Rminus_0_r in L, U, EL, EU.
  destruct (ratio_bound (rms P z) _ _ HS G2) as [A1 A2], (ratio_bound (rms P z) _ _ HS GP) as [B1 B2].
  split; [split; [now apply A2|now apply B1]|split].
  - rewrite <- EU; split; intros H.
    + apply Rle_antisym; [easy|apply A1; lra].
    + apply Rle_antisym; [now apply A2|apply A1; lra].
  - rewrite <- EL; split; intros H.
    + apply Rle_antisym; [easy|apply B2; lra].
    + apply Rle_antisym; [now apply B1|apply B2; lra].
Qed.
