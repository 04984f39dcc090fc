(** Derivatives along curves: how magnitudes, scales and quotients change when every phasor moves.

    Coquelicot's lemmas are restated for functions from reals to reals, which saves its structures from being guessed at
    every use.  A curve may stand still at z_k = 0, where a magnitude has no derivative otherwise.  *)
From Coq Require Import Reals Lra Lia.
From Coquelicot Require Export Rcomplements Hierarchy Derive ElemFct.
From Twins Require Export Scales.
Local Open Scope R_scope.

Implicit Types (P N i k : nat) (eps s t : R) (gam x : nat -> R) (g z w : nat -> vec) (u v : vec).

Definition is_derive_vec (f : R -> vec) t v : Prop :=
  is_derive (fun s => fst (f s)) t (fst v) /\ is_derive (fun s => snd (f s)) t (snd v).

(** Phasors in motion: differentiable with velocity [w] at time [t]; each is non-zero at [t], or does not move. *)
Definition curve P (c : R -> nat -> vec) t w : Prop :=
  forall k, (k < P)%nat ->
    is_derive_vec (fun s => c s k) t (w k) /\ (c t k <> vzero \/ forall s, c s k = c t k).

(** Channels in motion. *)
Definition channel_curve N (c : R -> nat -> R) t (w : nat -> R) : Prop :=
  forall n, (n < N)%nat -> is_derive (fun s => c s n) t (w n).

(** ** Rules for functions from reals to reals *)

Section Rules.
  Variables (f h : R -> R) (t df dh a : R).

  Lemma D_const : is_derive (fun _ : R => a) t 0.
  Proof. exact (is_derive_const (K := R_AbsRing) (V := R_NormedModule) a t). Qed.

  Lemma D_id : is_derive (fun s => s) t 1.
  Proof. exact (is_derive_id (K := R_AbsRing) t). Qed.

  Hypotheses (Hf : is_derive f t df) (Hh : is_derive h t dh).

  Lemma D_plus : is_derive (fun s => f s + h s) t (df + dh).
  Proof. exact (is_derive_plus f h t df dh Hf Hh). Qed.

  Lemma D_mult : is_derive (fun s => f s * h s) t (df * h t + f t * dh).
  Proof. exact (is_derive_mult f h t df dh Hf Hh Rmult_comm). Qed.

  Lemma D_scal : is_derive (fun s => a * f s) t (a * df).
  Proof. exact (is_derive_scal f t a df Hf). Qed.

  Lemma D_scal_r : is_derive (fun s => f s * a) t (df * a).
  Proof.
    rewrite (Rmult_comm df); apply (is_derive_ext (fun s => a * f s)); [intros; apply Rmult_comm|].
    exact D_scal.
  Qed.

  Lemma D_sq : is_derive (fun s => f s ^ 2) t (2 * f t * df).
  Proof. evar_last; [exact (is_derive_pow f 2 t df Hf)|simpl; ring]. Qed.

  Lemma D_div : h t <> 0 -> is_derive (fun s => f s / h s) t ((df - f t / h t * dh) / h t).
  Proof. intros H; evar_last; [exact (is_derive_div f h t df dh Hf Hh H)|simpl; field; easy]. Qed.

  Lemma D_sqrt : 0 < f t -> is_derive (fun s => sqrt (f s)) t (df / (2 * sqrt (f t))).
  Proof. intros H; exact (is_derive_sqrt f t df Hf H). Qed.

  Lemma D_ln : 0 < f t -> is_derive (fun s => ln (f s)) t (df / f t).
  Proof.
    intros H; exact (is_derive_comp ln f t (/ f t) df (is_derive_ln (f t) H) Hf).
  Qed.

  Lemma D_exp : is_derive (fun s => exp (f s)) t (df * exp (f t)).
  Proof. exact (is_derive_comp exp f t (exp (f t)) df (is_derive_exp (f t)) Hf). Qed.
End Rules.

Lemma D_eq (f : R -> R) (t d d' : R) : is_derive f t d -> d = d' -> is_derive f t d'.
Proof. now intros H <-. Qed.

Lemma D_unique (f : R -> R) (t d d' : R) : is_derive f t d -> is_derive f t d' -> d = d'.
Proof. intros H H'; now rewrite <- (is_derive_unique f t d H), <- (is_derive_unique f t d' H'). Qed.

Lemma D_ext (f h : R -> R) (t d : R) : (forall s, f s = h s) -> is_derive f t d -> is_derive h t d.
Proof. apply is_derive_ext. Qed.

Lemma D_line (a b t : R) : is_derive (fun s => a + s * b) t b.
Proof.
  eapply D_eq; [apply D_plus; [apply D_const|apply D_scal_r, D_id]|ring].
Qed.

Lemma D_sum N (f : R -> nat -> R) (df : nat -> R) t :
  (forall k, (k < N)%nat -> is_derive (fun s => f s k) t (df k)) ->
  is_derive (fun s => sum N (f s)) t (sum N df).
Proof.
  induction N as [|n IH]; simpl; intros H; [apply D_const|].
  apply (D_plus (fun s => sum n (f s)) (fun s => f s n)); auto.
Qed.

(** ** Vectors *)

Lemma D_dot_l u (f : R -> vec) t v :
  is_derive_vec f t v -> is_derive (fun s => dot u (f s)) t (dot u v).
Proof.
  intros [Hx Hy]; unfold dot.
  apply (D_plus (fun s => fst u * fst (f s)) (fun s => snd u * snd (f s))); now apply D_scal.
Qed.

Lemma D_vec_eq (f : R -> vec) t v v' : is_derive_vec f t v -> v = v' -> is_derive_vec f t v'.
Proof. now intros H <-. Qed.

Lemma D_vec_ext (f h : R -> vec) t v :
  (forall s, f s = h s) -> is_derive_vec f t v -> is_derive_vec h t v.
Proof.
  intros E [Hx Hy]; split; [apply (D_ext (fun s => fst (f s)))|apply (D_ext (fun s => snd (f s)))];
    try easy; intros s; now rewrite E.
Qed.

Lemma D_vec_unique (f : R -> vec) t v v' : is_derive_vec f t v -> is_derive_vec f t v' -> v = v'.
Proof. intros [Hx Hy] [Hx' Hy']; apply vec_eq; eapply D_unique; eassumption. Qed.

Lemma D_vec_const u t : is_derive_vec (fun _ => u) t vzero.
Proof. split; apply D_const. Qed.

Lemma D_vec_line u v t : is_derive_vec (fun s => vadd u (vscal s v)) t v.
Proof. split; unfold vadd, vscal; cbn [fst snd]; apply D_line. Qed.

Lemma D_vec_scal (a : R -> R) (f : R -> vec) t da v :
  is_derive a t da -> is_derive_vec f t v ->
  is_derive_vec (fun s => vscal (a s) (f s)) t (vadd (vscal da (f t)) (vscal (a t) v)).
Proof.
  intros Ha [Hx Hy]; split; unfold vscal, vadd; cbn [fst snd].
  - now apply (D_mult a (fun s => fst (f s))).
  - now apply (D_mult a (fun s => snd (f s))).
Qed.

(** ** Magnitudes: d|z| = u . dz, u = z / |z| *)

Lemma D_nrm (f : R -> vec) t v : is_derive_vec f t v -> f t <> vzero ->
  is_derive (fun s => nrm (f s)) t (dot (unit (f t)) v).
Proof.
  intros [Hx Hy] Hz%nrm_pos.
  assert (Hs : 0 < fst (f t) ^ 2 + snd (f t) ^ 2) by (apply sqrt_lt_0_alt; now rewrite sqrt_0).
  eapply D_eq.
  - apply (D_sqrt (fun s => fst (f s) ^ 2 + snd (f s) ^ 2)); [|exact Hs].
    apply (D_plus (fun s => fst (f s) ^ 2) (fun s => snd (f s) ^ 2)); apply D_sq; eassumption.
  - fold (nrm (f t)); unfold unit, dot, vscal; cbn [fst snd]; field; lra.
Qed.

Lemma D_nrm_curve P c t w k : curve P c t w -> (k < P)%nat ->
  is_derive (fun s => nrm (c s k)) t (dot (unit (c t k)) (w k)).
Proof.
  intros Hc Hk; destruct (Hc k Hk) as [D [H|H]]; [now apply (D_nrm (fun s => c s k))|].
  apply (D_ext (fun _ => nrm (c t k))); [intros s; now rewrite (H s)|].
  assert (Z : w k = vzero).
  { apply (D_vec_unique (fun s => c s k) t); [easy|].
    apply (D_vec_ext (fun _ => c t k)); [intros s; now rewrite (H s)|apply D_vec_const]. }
  rewrite Z; eapply D_eq; [apply D_const|unfold dot, vzero; simpl; ring].
Qed.

Lemma D_S_mean P eps c t w : curve P c t w ->
  is_derive (fun s => S_mean P eps (c s)) t (sum P (fun k => dot (unit (c t k)) (w k)) / INR P).
Proof.
  intros Hc; unfold S_mean; eapply D_eq.
  - apply (D_plus (fun s => sum P (fun i => nrm (c s i)) / INR P)); [|apply D_const].
    apply (D_scal_r (fun s => sum P (fun i => nrm (c s i)))), (D_sum P (fun s i => nrm (c s i))).
    intros k Hk; exact (D_nrm_curve P c t w k Hc Hk).
  - unfold Rdiv; ring.
Qed.

Lemma D_RMS N eps c t (w : nat -> R) : channel_curve N c t w -> 0 < RMS N eps (c t) ->
  is_derive (fun s => RMS N eps (c s)) t (sum N (fun n => c t n * w n) / INR N / RMS N eps (c t)).
Proof.
  intros Hc HR; assert (H : 0 < sum N (fun n => c t n ^ 2) / INR N + eps).
  { apply sqrt_lt_0_alt; now rewrite sqrt_0. }
  unfold RMS; eapply D_eq.
  - apply (D_sqrt (fun s => sum N (fun n => c s n ^ 2) / INR N + eps)); [|exact H].
    apply (D_plus (fun s => sum N (fun n => c s n ^ 2) / INR N)); [|apply D_const].
    apply (D_scal_r (fun s => sum N (fun n => c s n ^ 2))), (D_sum N (fun s n => c s n ^ 2)).
    intros n Hn; apply (D_sq (fun s => c s n)); now apply Hc.
  - rewrite (sum_ext N _ (fun n => 2 * (c t n * w n))) by (intros; ring).
    rewrite sum_scal; fold (RMS N eps (c t)); unfold Rdiv; generalize (/ INR N); intros b.
    field; lra.
Qed.

(** ** Curves that move one phasor, or one channel *)

Definition at_phasor i v : nat -> vec := upd (fun _ => vzero) i v.
Definition at_channel i (a : R) : nat -> R := upd (fun _ => 0) i a.

(** Phasor [i] follows [f]; the others stand still. *)
Lemma curve_one P z i (f : R -> vec) t v : z i <> vzero -> f t = z i -> is_derive_vec f t v ->
  curve P (fun s => upd z i (f s)) t (at_phasor i v).
Proof.
  intros Hz Hf Hv k _; destruct (Nat.eq_dec k i) as [->|Hk].
  - unfold at_phasor; rewrite !upd_same, Hf; split; [|now left].
    apply (D_vec_ext f); [intros; now rewrite upd_same|easy].
  - unfold at_phasor; rewrite !(upd_diff _ _ _ k Hk); split.
    + apply (D_vec_ext (fun _ => z k)); [intros; now rewrite upd_diff|apply D_vec_const].
    + right; intros; now rewrite !(upd_diff _ _ _ k Hk).
Qed.

Lemma channel_curve_one N x i : channel_curve N (fun s => upd x i s) (x i) (at_channel i 1).
Proof.
  intros k _; unfold at_channel; destruct (Nat.eq_dec k i) as [->|Hk].
  - rewrite upd_same; apply (D_ext (fun s => s)); [intros; now rewrite upd_same|apply D_id].
  - rewrite upd_diff by easy.
    apply (D_ext (fun _ => x k)); [intros; now rewrite upd_diff|apply D_const].
Qed.

Lemma sum_at_phasor P g i v : (i < P)%nat -> sum P (fun k => dot (g k) (at_phasor i v k)) = dot (g i) v.
Proof.
  intros Hi; unfold at_phasor; rewrite (sum_single P i), upd_same; [easy|easy|].
  intros j _ Hj; rewrite upd_diff by easy; unfold dot, vzero; simpl; ring.
Qed.

Lemma sum_at_channel N x i (a : R) : (i < N)%nat -> sum N (fun n => x n * at_channel i a n) = x i * a.
Proof.
  intros Hi; unfold at_channel; rewrite (sum_single N i), upd_same; [easy|easy|].
  intros j _ Hj; rewrite upd_diff by easy; ring.
Qed.
