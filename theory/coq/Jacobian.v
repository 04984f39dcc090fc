(** Eq. 8: the Jacobian of z -> zhat = z / S, block by block.

    Along any motion w of all phasors, d zhat_i = (w_i - zhat_i (1/P) sum_k u_k . w_k) / S.  If phasor i alone moves,
    that is the block of Eq. 8; if phasor j does, the block off the diagonal.  Source: section 5.2, Eq. 8.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Derivatives.
Local Open Scope R_scope.

Implicit Types (P i j k : nat) (eps t : R) (gam : nat -> R) (z w : nat -> vec) (v : vec).

(** (1/S) (I - u_i zhat_i^T / P) and -(1/(P S)) zhat_i u_j^T, as maps of v. *)
Definition own_block P eps z i v : vec :=
  vscal (/ S_mean P eps z) (vadd v (vscal (- (dot (zhat P eps z i) v / INR P)) (unit (z i)))).
Definition off_block P eps z i j v : vec :=
  vscal (- (dot (unit (z j)) v / (INR P * S_mean P eps z))) (zhat P eps z i).

Theorem jacobian_curve P eps c t w i : (i < P)%nat -> S_mean P eps (c t) <> 0 -> curve P c t w ->
  is_derive_vec (fun s => zhat P eps (c s) i) t
    (vscal (/ S_mean P eps (c t))
       (vadd (w i) (vscal (- (sum P (fun k => dot (unit (c t k)) (w k)) / INR P)) (zhat P eps (c t) i)))).
Proof.
  intros Hi HS Hc; assert (D := D_S_mean P eps c t w Hc); destruct (Hc i Hi) as [[Hx Hy] _].
  unfold zhat; split; unfold vscal, vadd; cbn [fst snd].
  - apply (D_ext (fun s => fst (c s i) / S_mean P eps (c s))); [intros; unfold Rdiv; ring|].
    eapply D_eq; [exact (D_div _ _ t _ _ Hx D HS)|unfold Rdiv; ring].
  - apply (D_ext (fun s => snd (c s i) / S_mean P eps (c s))); [intros; unfold Rdiv; ring|].
    eapply D_eq; [exact (D_div _ _ t _ _ Hy D HS)|unfold Rdiv; ring].
Qed.

(** Phasor [j] moves with velocity [v], the others stand still. *)
Definition moved z j v : R -> nat -> vec := fun s => upd z j (vadd (z j) (vscal s v)).

Lemma moved_0 z j v k : moved z j v 0 k = z k.
Proof.
  unfold moved; replace (vadd (z j) (vscal 0 v)) with (z j) by (components; ring); apply upd_id.
Qed.

Lemma S_mean_moved P eps z j v : S_mean P eps (moved z j v 0) = S_mean P eps z.
Proof. unfold S_mean; do 2 f_equal; apply sum_ext; intros; now rewrite moved_0. Qed.

Lemma curve_moved P z j v : z j <> vzero -> curve P (moved z j v) 0 (at_phasor j v).
Proof.
  intros Hz; apply curve_one; [easy|components; ring|apply D_vec_line].
Qed.

Lemma jacobian_moved P eps z i j v : (i < P)%nat -> (j < P)%nat -> 0 <= eps -> z j <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z j v s) i) 0
    (vscal (/ S_mean P eps z)
       (vadd (at_phasor j v i) (vscal (- (dot (unit (z j)) v / INR P)) (zhat P eps z i)))).
Proof.
  intros Hi Hj He Hz; eapply D_vec_eq.
  - apply (jacobian_curve P eps (moved z j v) 0 (at_phasor j v) i Hi); [|now apply curve_moved].
    rewrite S_mean_moved; apply Rgt_not_eq; now apply (S_mean_pos P eps z j).
  - rewrite S_mean_moved, sum_at_phasor, moved_0 by easy; unfold zhat; now rewrite S_mean_moved, moved_0.
Qed.

Theorem eq08 P eps z i v : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z i v s) i) 0 (own_block P eps z i v).
Proof.
  intros Hi He Hz; eapply D_vec_eq; [now apply jacobian_moved|].
  unfold own_block, at_phasor; rewrite upd_same; do 2 f_equal.
  unfold zhat; rewrite <- (unit_nrm (z i)) at 2 3; set (u := unit (z i)); components; unfold Rdiv; ring.
Qed.

Theorem eq08_off_diagonal P eps z i j v : (i < P)%nat -> (j < P)%nat -> i <> j -> 0 <= eps -> z j <> vzero ->
  is_derive_vec (fun s => zhat P eps (moved z j v s) i) 0 (off_block P eps z i j v).
Proof.
  intros Hi Hj Hne He Hz; eapply D_vec_eq; [now apply jacobian_moved|].
  assert (HS := S_mean_pos P eps z j Hj He Hz); assert (HP := INR_pos P i Hi).
  unfold off_block, at_phasor; rewrite upd_diff by easy; components; field; lra.
Qed.

Theorem eq08_with_weight P eps gam z i v : (i < P)%nat -> 0 <= eps -> z i <> vzero ->
  is_derive_vec (fun s => out gam (S_mean P eps (moved z i v s)) (moved z i v s) i) 0
    (vscal (gam i) (own_block P eps z i v)).
Proof.
  intros Hi He Hz; destruct (eq08 P eps z i v Hi He Hz) as [Dx Dy].
  apply (D_vec_ext (fun s => vscal (gam i) (zhat P eps (moved z i v s) i)));
    [intros; now rewrite out_zhat|].
  split; unfold vscal at 1; cbn [fst snd].
  - exact (D_scal (fun s => fst (zhat P eps (moved z i v s) i)) 0 _ (gam i) Dx).
  - exact (D_scal (fun s => snd (zhat P eps (moved z i v s) i)) 0 _ (gam i) Dy).
Qed.

(** Read with the zhat of Eq. 2, after the weight, Eq. 8 is wrong: P = 1, z = (1, 0), gamma = 2, eps = 0. *)
Theorem eq08_post_affine_refuted :
  ~ (forall P eps gam z i v, (i < P)%nat -> 0 <= eps -> z i <> vzero ->
       let S := S_mean P eps z in
       is_derive_vec (fun s => out gam (S_mean P eps (moved z i v s)) (moved z i v s) i) 0
         (vscal (/ S) (vadd v (vscal (- (dot (out gam S z i) v / INR P)) (unit (z i)))))).
Proof.
  intros H; set (z := fun _ : nat => (1, 0)).
  assert (N := nrm_e1); assert (Hz : z 0%nat <> vzero) by exact e1_neq0.
  assert (D := H 1%nat 0 (fun _ => 2) z 0%nat (1, 0) Nat.lt_0_1 (Rle_refl 0) Hz).
  assert (D' := eq08_with_weight 1 0 (fun _ => 2) z 0 (1, 0) Nat.lt_0_1 (Rle_refl 0) Hz).
  assert (E := f_equal fst (D_vec_unique _ _ _ _ D D')).
  unfold own_block, zhat, out, unit, S_mean, dot, vadd, vscal, z in E; cbn [sum fst snd] in E.
  rewrite N in E; simpl in E; field_simplify in E; lra.
Qed.

(** ** All phasors move by one linear map *)

Lemma jacobian_linear P eps z (w : nat -> vec) i : (i < P)%nat -> 0 < S_mean P eps z ->
  (forall k, z k = vzero -> w k = vzero) ->
  is_derive_vec (fun s => zhat P eps (fun k => vadd (z k) (vscal s (w k))) i) 0
    (vscal (/ S_mean P eps z)
       (vadd (w i) (vscal (- (sum P (fun k => dot (unit (z k)) (w k)) / INR P)) (zhat P eps z i)))).
Proof.
  intros Hi HS Hw.
  assert (E : forall k, vadd (z k) (vscal 0 (w k)) = z k) by (intros; components; ring).
  assert (ES : S_mean P eps (fun k => vadd (z k) (vscal 0 (w k))) = S_mean P eps z)
    by (unfold S_mean; do 2 f_equal; apply sum_ext; intros; now rewrite E).
  eapply D_vec_eq.
  - apply (jacobian_curve P eps (fun s k => vadd (z k) (vscal s (w k))) 0 w i Hi); [rewrite ES; lra|].
    intros k _; split; [apply D_vec_line|rewrite E].
    destruct (Req_dec (nrm (z k)) 0) as [Z%nrm_eq0|Z].
    + right; intros s; rewrite (Hw k Z), Z; components; ring.
    + left; intros Q; apply Z; rewrite Q; apply nrm0.
  - unfold zhat; rewrite ES, E, (sum_ext P _ (fun k => dot (unit (z k)) (w k))) by (intros; now rewrite E); easy.
Qed.

(** Scaled together: J h = (eps / S^2) h. *)
Theorem common_radial P eps z i : (i < P)%nat -> 0 < S_mean P eps z ->
  is_derive_vec (fun s => zhat P eps (fun k => vadd (z k) (vscal s (z k))) i) 0
    (vscal (eps / S_mean P eps z ^ 2) (z i)).
Proof.
  intros Hi HS; assert (HP := INR_pos P i Hi); eapply D_vec_eq; [now apply jacobian_linear|].
  rewrite (sum_ext P _ (fun k => nrm (z k))), (sum_nrm P eps) by (lia || (intros; apply dot_unit_self)).
  unfold zhat; components; field; lra.
Qed.

(** Turned together by a right angle: J stretches by 1/S, more than h itself, so it is never an isometry. *)
Theorem common_tangential P eps z i : (i < P)%nat -> 0 < S_mean P eps z ->
  let turned k := (- snd (z k), fst (z k)) in
  is_derive_vec (fun s => zhat P eps (fun k => vadd (z k) (vscal s (turned k))) i) 0
    (vscal (/ S_mean P eps z) (turned i)).
Proof.
  intros Hi HS turned; eapply D_vec_eq.
  - apply (jacobian_linear P eps z turned i Hi HS); intros k Z; unfold turned; rewrite Z.
    unfold vzero; cbn [fst snd]; now rewrite Ropp_0.
  - rewrite (sum_ext P _ (fun _ => 0)), sum_const; [components; unfold Rdiv; ring|].
    intros k _; unfold turned, unit, dot, vscal; cbn [fst snd]; ring.
Qed.

Theorem stretches_differ P eps z i : (i < P)%nat -> z i <> vzero -> 0 <= eps ->
  eps / S_mean P eps z ^ 2 < / S_mean P eps z.
Proof.
  intros Hi Hz%nrm_pos He; assert (B := nrm_le_S_mean P eps z i Hi); assert (HP := INR_pos P i Hi).
  assert (L : eps < S_mean P eps z) by (apply Rnot_le_lt; intros L; nra).
  set (S := S_mean P eps z) in *; apply (Rmult_lt_reg_r (S ^ 2)); [apply pow_lt; lra|].
  replace (eps / S ^ 2 * S ^ 2) with eps by (field; lra); replace (/ S * S ^ 2) with S by (field; lra); easy.
Qed.
