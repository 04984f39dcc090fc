(** Finite sums f 0 + ... + f (P-1) of reals, and the inequalities between them that the proofs use.

    A vector of any length is a function on [nat] together with its length, so that every theorem is about every
    length.  *)
From Coq Require Import Reals Lra Lia.
Local Open Scope R_scope.

Fixpoint sum (P : nat) (f : nat -> R) : R :=
  match P with O => 0 | S n => sum n f + f n end.

Implicit Types (P i j : nat) (f g : nat -> R).

Lemma sum_le P f g :
  (forall i, (i < P)%nat -> f i <= g i) -> sum P f <= sum P g.
Proof.
  induction P as [|n IH]; simpl; intros H; [lra|].
  apply Rplus_le_compat; auto.
Qed.

Lemma sum_ext P f g :
  (forall i, (i < P)%nat -> f i = g i) -> sum P f = sum P g.
Proof. intros H; apply Rle_antisym; apply sum_le; intros i Hi; rewrite H; auto; lra. Qed.

Lemma sum_plus P f g : sum P (fun i => f i + g i) = sum P f + sum P g.
Proof. induction P as [|n IH]; simpl; rewrite ?IH; ring. Qed.

Lemma sum_minus P f g : sum P (fun i => f i - g i) = sum P f - sum P g.
Proof. induction P as [|n IH]; simpl; rewrite ?IH; ring. Qed.

Lemma sum_scal P c f : sum P (fun i => c * f i) = c * sum P f.
Proof. induction P as [|n IH]; simpl; rewrite ?IH; ring. Qed.

Lemma sum_scal_r P c f : sum P (fun i => f i * c) = sum P f * c.
Proof. induction P as [|n IH]; simpl; rewrite ?IH; ring. Qed.

Lemma sum_const P c : sum P (fun _ => c) = INR P * c.
Proof. induction P as [|n IH]; [simpl; ring|]. rewrite S_INR; simpl; rewrite IH; ring. Qed.

(** A vector of 2P entries, summed pair by pair. *)
Lemma sum_pairs P f :
  sum (2 * P) f = sum P (fun i => f (2 * i)%nat + f (2 * i + 1)%nat).
Proof.
  induction P as [|n IH]; [reflexivity|].
  replace (2 * S n)%nat with (S (S (2 * n))) by lia.
  cbn [sum]; rewrite IH; replace (2 * n + 1)%nat with (S (2 * n)) by lia; ring.
Qed.

Lemma sum_ge0 P f : (forall i, (i < P)%nat -> 0 <= f i) -> 0 <= sum P f.
Proof.
  intros H; replace 0 with (sum P (fun _ => 0)) by (rewrite sum_const; ring).
  now apply sum_le.
Qed.

Lemma sum_abs P f : Rabs (sum P f) <= sum P (fun i => Rabs (f i)).
Proof.
  induction P as [|n IH]; simpl; [rewrite Rabs_R0; lra|].
  eapply Rle_trans; [apply Rabs_triang|lra].
Qed.

(** ** One term taken out *)

Lemma sum_split P i f : (i < P)%nat ->
  sum P f = f i + sum P (fun j => if Nat.eqb j i then 0 else f j).
Proof.
  induction P as [|n IH]; intros Hi; [lia|]; simpl.
  destruct (Nat.eqb_spec n i) as [<-|Hne]; [|rewrite IH by lia; ring].
  enough (E : sum n f = sum n (fun j => if Nat.eqb j n then 0 else f j)) by lra.
  apply sum_ext; intros j Hj; destruct (Nat.eqb_spec j n); [lia|easy].
Qed.

Lemma sum_single P i f : (i < P)%nat ->
  (forall j, (j < P)%nat -> j <> i -> f j = 0) -> sum P f = f i.
Proof.
  intros Hi H; rewrite (sum_split P i f Hi), (sum_ext P _ (fun _ => 0)).
  - rewrite sum_const; ring.
  - intros j Hj; destruct (Nat.eqb_spec j i); auto.
Qed.

Lemma sum_ge_term P i f : (i < P)%nat ->
  (forall j, (j < P)%nat -> 0 <= f j) -> f i <= sum P f.
Proof.
  intros Hi H; rewrite (sum_split P i f Hi).
  enough (0 <= sum P (fun j => if Nat.eqb j i then 0 else f j)) by lra.
  apply sum_ge0; intros j Hj; destruct (Nat.eqb j i); [lra|auto].
Qed.

Lemma sum_pos_ex P f : 0 < sum P f -> exists j, (j < P)%nat /\ 0 < f j.
Proof.
  induction P as [|n IH]; simpl; intros H; [lra|].
  destruct (Rlt_dec 0 (f n)); [exists n; split; [lia|easy]|].
  destruct IH as [j [Hj Hf]]; [lra|]. exists j; split; [lia|easy].
Qed.

Lemma sum_eq0 P f : (forall i, (i < P)%nat -> 0 <= f i) -> sum P f = 0 ->
  forall i, (i < P)%nat -> f i = 0.
Proof.
  intros H E i Hi; apply Rle_antisym; [|auto].
  rewrite <- E; now apply sum_ge_term.
Qed.

(** ** Products *)

Lemma sum_mult_le P f g :
  (forall i, (i < P)%nat -> 0 <= f i) -> (forall i, (i < P)%nat -> 0 <= g i) ->
  sum P (fun i => f i * g i) <= sum P f * sum P g.
Proof.
  intros Hf Hg; rewrite Rmult_comm, <- sum_scal; apply sum_le; intros i Hi.
  rewrite Rmult_comm; apply Rmult_le_compat_r; auto using sum_ge_term.
Qed.

Lemma sum_sq_ge0 P f : 0 <= sum P (fun i => f i ^ 2).
Proof. apply sum_ge0; intros; apply pow2_ge_0. Qed.

(** Cauchy and Schwarz, from the square of g.g f - f.g g. *)
Lemma sum_cauchy P f g :
  sum P (fun i => f i * g i) ^ 2 <= sum P (fun i => f i ^ 2) * sum P (fun i => g i ^ 2).
Proof.
  set (F := sum P (fun i => f i ^ 2)); set (G := sum P (fun i => g i ^ 2)).
  set (A := sum P (fun i => f i * g i)).
  assert (HG : 0 <= G) by apply sum_sq_ge0.
  assert (HF : 0 <= F) by apply sum_sq_ge0.
  assert (D : 0 <= sum P (fun i => (G * f i - A * g i) ^ 2)) by apply sum_sq_ge0.
  rewrite (sum_ext P _ (fun i => G ^ 2 * f i ^ 2 + (-2 * G * A * (f i * g i) + A ^ 2 * g i ^ 2))) in D
    by (intros; ring).
  rewrite !sum_plus, !sum_scal in D; fold F G A in D.
  destruct HG as [HG|HG].
  - assert (0 <= G * (G * F - A ^ 2)) by nra. nra.
  - assert (E : A = 0).
    { unfold A; rewrite (sum_ext P _ (fun _ => 0)); [rewrite sum_const; ring|].
      intros i Hi; assert (Z := sum_eq0 P (fun i => g i ^ 2) (fun j _ => pow2_ge_0 (g j)) (eq_sym HG) i Hi).
      cbv beta in Z; replace (g i) with 0 by nra; ring. }
    rewrite E; nra.
Qed.

(** The squares around a mean [m]: what is left is the spread. *)
Lemma sum_spread P f m : sum P f = INR P * m ->
  sum P (fun i => f i ^ 2) = INR P * m ^ 2 + sum P (fun i => (f i - m) ^ 2).
Proof.
  intros H.
  rewrite (sum_ext P (fun i => (f i - m) ^ 2) (fun i => f i ^ 2 + (- 2 * m * f i + m ^ 2))) by (intros; ring).
  rewrite !sum_plus, sum_scal, sum_const, H; ring.
Qed.

(** ** The largest of [f 0, ..., f (P-1)], and [0] *)

Fixpoint rmax (P : nat) (f : nat -> R) : R :=
  match P with O => 0 | S n => Rmax (rmax n f) (f n) end.

Lemma rmax_ge P i f : (i < P)%nat -> f i <= rmax P f.
Proof.
  induction P as [|n IH]; intros Hi; [lia|]; simpl.
  destruct (Nat.eq_dec i n) as [->|]; [apply Rmax_r|].
  eapply Rle_trans; [apply IH; lia|apply Rmax_l].
Qed.
