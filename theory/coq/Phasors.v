(** Phasors: a channel pair (x, y) as a vector of the plane, with magnitude, direction and inner product.

    Source of the notation: section 3; the polar form is that of appendix A.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Sums.
Local Open Scope R_scope.

Definition vec : Type := R * R.
Definition vzero : vec := (0, 0).
Definition vadd (u v : vec) : vec := (fst u + fst v, snd u + snd v).
Definition vscal (a : R) (u : vec) : vec := (a * fst u, a * snd u).
Definition dot (u v : vec) : R := fst u * fst v + snd u * snd v.
Definition cross (u v : vec) : R := fst u * snd v - snd u * fst v.
Definition nrm (u : vec) : R := sqrt (fst u ^ 2 + snd u ^ 2).
Definition unit (u : vec) : vec := vscal (/ nrm u) u.
Definition polar (r th : R) : vec := (r * cos th, r * sin th).
Definition rot (a : R) (u : vec) : vec :=
  (cos a * fst u - sin a * snd u, sin a * fst u + cos a * snd u).

(** The vector with entry [i] replaced. *)
Definition upd {A : Type} (z : nat -> A) (i : nat) (v : A) : nat -> A :=
  fun k => if Nat.eqb k i then v else z k.

Implicit Types (u v : vec).

Lemma vec_eq u v : fst u = fst v -> snd u = snd v -> u = v.
Proof. destruct u, v; simpl; intros -> ->; reflexivity. Qed.

(** Prove an equation between vectors, component by component. *)
Ltac components := apply vec_eq; unfold vadd, vscal, dot, vzero; cbn [fst snd].

Lemma nrm_ge0 u : 0 <= nrm u.
Proof. apply sqrt_pos. Qed.

Lemma nrm_sq u : nrm u ^ 2 = dot u u.
Proof. unfold nrm, dot; rewrite pow2_sqrt; nra. Qed.

Lemma dot_comm u v : dot u v = dot v u.
Proof. unfold dot; ring. Qed.

Lemma dot_vscal a b u v : dot (vscal a u) (vscal b v) = a * b * dot u v.
Proof. unfold dot, vscal; simpl; ring. Qed.

Lemma nrm_eq0 u : nrm u = 0 -> u = vzero.
Proof.
  intros H; assert (D := nrm_sq u); rewrite H in D; destruct u as [x y].
  unfold dot in D; simpl in D; unfold vzero; f_equal; nra.
Qed.

Lemma nrm0 : nrm vzero = 0.
Proof. unfold nrm; cbn [fst snd vzero]; replace (0 ^ 2 + 0 ^ 2) with 0 by ring; apply sqrt_0. Qed.

Lemma nrm_pos u : u <> vzero -> 0 < nrm u.
Proof.
  intros H; destruct (nrm_ge0 u) as [?|E]; [easy|].
  now contradict H; apply nrm_eq0.
Qed.

Lemma nrm_pos_inv u : 0 < nrm u -> u <> vzero.
Proof. intros H ->; rewrite nrm0 in H; lra. Qed.

(** The magnitude is the one non-negative number with this square. *)
Lemma nrm_is u r : 0 <= r -> dot u u = r ^ 2 -> nrm u = r.
Proof.
  intros Hr H; apply Rsqr_inj; [apply nrm_ge0|easy|].
  unfold Rsqr; assert (D := nrm_sq u); lra.
Qed.

Lemma nrm_vscal a u : nrm (vscal a u) = Rabs a * nrm u.
Proof.
  unfold nrm; rewrite <- sqrt_Rsqr_abs, <- sqrt_mult; unfold Rsqr; simpl; try nra.
  f_equal; ring.
Qed.

Lemma nrm_vscal_pos a u : 0 <= a -> nrm (vscal a u) = a * nrm u.
Proof. intros H; now rewrite nrm_vscal, Rabs_pos_eq. Qed.

(** |u_i| = 1 (section 5.1), where z_i is not 0. *)
Theorem nrm_unit u : u <> vzero -> nrm (unit u) = 1.
Proof.
  intros H%nrm_pos; unfold unit; rewrite nrm_vscal_pos.
  - field; lra.
  - left; now apply Rinv_0_lt_compat.
Qed.

Lemma unit_nrm u : vscal (nrm u) (unit u) = u.
Proof.
  destruct (Req_dec (nrm u) 0) as [E|E].
  - assert (Z := nrm_eq0 u E); unfold unit; rewrite E, Z; components; ring.
  - unfold unit; components; field; easy.
Qed.

Lemma dot_unit_self u : dot (unit u) u = nrm u.
Proof.
  destruct (Req_dec (nrm u) 0) as [E|E].
  - rewrite E; apply nrm_eq0 in E; rewrite E; unfold dot, vzero; simpl; ring.
  - unfold unit; replace (dot _ _) with (/ nrm u * dot u u) by (unfold dot, vscal; simpl; ring).
    rewrite <- nrm_sq; field; easy.
Qed.

(** Lagrange's identity in the plane, and Cauchy and Schwarz from it. *)
Lemma lagrange u v : dot u v ^ 2 + cross u v ^ 2 = (nrm u * nrm v) ^ 2.
Proof. rewrite Rpow_mult_distr, !nrm_sq; unfold dot, cross; ring. Qed.

Theorem dot_le u v : Rabs (dot u v) <= nrm u * nrm v.
Proof.
  rewrite <- (Rabs_pos_eq (nrm u * nrm v)) by (apply Rmult_le_pos; apply nrm_ge0).
  apply Rsqr_le_abs_0; rewrite !Rsqr_pow2, <- lagrange.
  assert (D := pow2_ge_0 (cross u v)); lra.
Qed.

Lemma nrm_triangle u v : nrm (vadd u v) <= nrm u + nrm v.
Proof.
  apply Rsqr_incr_0; [|apply nrm_ge0|apply Rplus_le_le_0_compat; apply nrm_ge0].
  rewrite !Rsqr_pow2; replace ((nrm u + nrm v) ^ 2) with (nrm u ^ 2 + 2 * (nrm u * nrm v) + nrm v ^ 2) by ring.
  rewrite !nrm_sq; assert (D := Rle_trans _ _ _ (Rle_abs _) (dot_le u v)).
  unfold dot, vadd in *; simpl; nra.
Qed.

Lemma nrm_polar r th : 0 <= r -> nrm (polar r th) = r.
Proof.
  intros Hr; apply nrm_is; [easy|]; unfold polar, dot; simpl.
  assert (E := sin2_cos2 th); unfold Rsqr in E; nra.
Qed.

Theorem nrm_rot a u : nrm (rot a u) = nrm u.
Proof.
  apply nrm_is; [apply nrm_ge0|]; rewrite nrm_sq; unfold rot, dot; simpl.
  assert (E := sin2_cos2 a); unfold Rsqr in E; nra.
Qed.

Lemma nrm_e1 : nrm (1, 0) = 1.
Proof. apply nrm_is; [lra|unfold dot; simpl; ring]. Qed.

Lemma e1_neq0 : (1, 0) <> vzero.
Proof. apply nrm_pos_inv; rewrite nrm_e1; lra. Qed.

Lemma upd_same {A} (z : nat -> A) i (a : A) : upd z i a i = a.
Proof. unfold upd; now rewrite Nat.eqb_refl. Qed.

Lemma upd_diff {A} (z : nat -> A) i (a : A) k : k <> i -> upd z i a k = z k.
Proof. unfold upd; now destruct (Nat.eqb_spec k i). Qed.

Lemma upd_id {A} (z : nat -> A) i k : upd z i (z i) k = z k.
Proof. unfold upd; now destruct (Nat.eqb_spec k i) as [->|]. Qed.

Lemma sum_upd {A} P i (z : nat -> A) (a : A) (f : nat -> A -> R) : (i < P)%nat ->
  sum P (fun k => f k (upd z i a k)) = sum P (fun k => f k (z k)) - f i (z i) + f i a.
Proof.
  intros Hi; rewrite (sum_split P i (fun k => f k (upd z i a k)) Hi), (sum_split P i (fun k => f k (z k)) Hi).
  rewrite upd_same, (sum_ext P (fun j => if Nat.eqb j i then 0 else f j (upd z i a j))
                               (fun j => if Nat.eqb j i then 0 else f j (z j))); [ring|].
  intros j _; destruct (Nat.eqb_spec j i); [easy|now rewrite upd_diff].
Qed.
