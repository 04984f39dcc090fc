(** Why two dimensions: no periodic function on the line has a derivative of constant size.

    The paper asks for a continuous derivative; differentiable everywhere is enough, by the mean value theorem.
    Source: section 5.2.  *)
From Coq Require Import Reals Lra.
From Coquelicot Require Import Rcomplements Hierarchy Derive.
Local Open Scope R_scope.

Implicit Types (f df : R -> R) (T c x m : R).

Lemma mean_value f df x T : 0 < T -> (forall y, is_derive f y (df y)) ->
  exists xi, f (x + T) - f x = df xi * T.
Proof.
  intros HT H; destruct (MVT_gen f x (x + T) df) as (xi & _ & E).
  - intros; apply H.
  - intros y _; apply derivable_continuous_pt; exists (df y); apply is_derive_Reals, H.
  - exists xi; rewrite E; ring.
Qed.

(** Every differentiable function moves at least T inf |f'| over a distance T. *)
Theorem moves_at_least f df x T m : 0 < T -> (forall y, is_derive f y (df y)) -> (forall y, m <= Rabs (df y)) ->
  T * m <= Rabs (f (x + T) - f x).
Proof.
  intros HT H Hm; destruct (mean_value f df x T HT H) as [xi ->].
  rewrite Rabs_mult, (Rabs_pos_eq T) by lra; specialize (Hm xi); nra.
Qed.

Theorem no_periodic f df T c : 0 < T -> 0 < c -> (forall x, is_derive f x (df x)) ->
  (forall x, f (x + T) = f x) -> ~ (forall x, Rabs (df x) = c).
Proof.
  intros HT Hc H P A.
  assert (M := moves_at_least f df 0 T c HT H (fun y => Req_le _ _ (eq_sym (A y)))).
  rewrite P, Rminus_diag_eq, Rabs_R0 in M by reflexivity; nra.
Qed.

(** As printed, with a continuous derivative. *)
Corollary no_periodic_C1 f df T c : 0 < T -> 0 < c -> (forall x, is_derive f x (df x)) ->
  (forall x, continuity_pt df x) -> (forall x, f (x + T) = f x) -> ~ (forall x, Rabs (df x) = c).
Proof. intros HT Hc H _; now apply no_periodic. Qed.

(** Nor does a unit direction on the line turn: continuous with no other values than 1 and -1, it has one of them. *)
Theorem no_phase_on_the_line f (a b : R) : (forall x, continuity_pt f x) -> (forall x, f x = 1 \/ f x = -1) ->
  f a = 1 -> f b <> -1.
Proof.
  intros C H Ha Hb; assert (Z : exists x, f x = 0).
  { destruct (Rle_dec a b) as [L|L].
    - destruct (IVT_cor f a b C L) as (x & _ & E); [rewrite Ha, Hb; lra|now exists x].
    - destruct (IVT_cor f b a C) as (x & _ & E); [lra|rewrite Ha, Hb; lra|now exists x]. }
  destruct Z as [x E], (H x); lra.
Qed.

(** In two dimensions there is one: (cos, sin) has period 2 PI and velocity of length 1. *)
Theorem periodic_in_the_plane x :
  is_derive cos x (- sin x) /\ is_derive sin x (cos x) /\ sqrt ((- sin x) ^ 2 + cos x ^ 2) = 1 /\
  cos (x + 2 * PI) = cos x /\ sin (x + 2 * PI) = sin x.
Proof.
  split; [|split; [|split; [|split]]].
  - apply is_derive_Reals, derivable_pt_lim_cos.
  - apply is_derive_Reals, derivable_pt_lim_sin.
  - replace ((- sin x) ^ 2 + cos x ^ 2) with (Rsqr (sin x) + Rsqr (cos x)) by (unfold Rsqr; ring).
    rewrite sin2_cos2; apply sqrt_1.
  - rewrite <- (cos_period x 1); f_equal; simpl; ring.
  - rewrite <- (sin_period x 1); f_equal; simpl; ring.
Qed.
