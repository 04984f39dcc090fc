(** Two other ways to bound a phasor: projection to the unit circle, and the squashing function of capsule networks.

    The projection z -> z / |z| has the Jacobian (I - u u^T) / r, which maps the radial direction to 0 (section 5.2).
    Squashing, z -> r^2 / (1 + r^2) u, does not: the radial factor is 2r / (1 + r^2)^2 > 0 (section 2.2 says 0).  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Derivatives.
Local Open Scope R_scope.

Implicit Types (t : R) (u v z : vec).

Definition squash z : vec := vscal (nrm z ^ 2 / (1 + nrm z ^ 2)) (unit z).

Lemma dot_unit_unit z : z <> vzero -> dot (unit z) (unit z) = 1.
Proof. intros H; rewrite <- nrm_sq, nrm_unit by easy; ring. Qed.

(** ** The unit circle *)

Theorem unit_derive (f : R -> vec) t v : is_derive_vec f t v -> f t <> vzero ->
  is_derive_vec (fun s => unit (f s)) t
    (vscal (/ nrm (f t)) (vadd v (vscal (- dot (unit (f t)) v) (unit (f t))))).
Proof.
  intros Hf Hz; assert (D := D_nrm f t v Hf Hz); assert (Hr := nrm_pos _ Hz); destruct Hf as [Hx Hy].
  assert (N : nrm (f t) <> 0) by lra.
  split; unfold unit at 1, vscal at 1; cbn [fst snd].
  - apply (D_ext (fun s => fst (f s) / nrm (f s))); [intros; unfold Rdiv; ring|].
    eapply D_eq; [exact (D_div _ _ t _ _ Hx D N)|].
    unfold unit, vadd, vscal, Rdiv; cbn [fst snd]; ring.
  - apply (D_ext (fun s => snd (f s) / nrm (f s))); [intros; unfold Rdiv; ring|].
    eapply D_eq; [exact (D_div _ _ t _ _ Hy D N)|].
    unfold unit, vadd, vscal, Rdiv; cbn [fst snd]; ring.
Qed.

(** The blockade: a push along u leaves the projection where it is. *)
Theorem unit_radial z : z <> vzero ->
  is_derive_vec (fun s => unit (vadd z (vscal s (unit z)))) 0 vzero.
Proof.
  intros Hz; assert (E : vadd z (vscal 0 (unit z)) = z) by (components; ring).
  eapply D_vec_eq.
  - apply (unit_derive (fun s => vadd z (vscal s (unit z))) 0 (unit z)); [apply D_vec_line|now rewrite E].
  - rewrite E, dot_unit_unit by easy; components; ring.
Qed.

(** ** Squashing *)

Lemma one_plus_sq (r : R) : 0 < 1 + r ^ 2.
Proof. assert (D := pow2_ge_0 r); lra. Qed.

(** The length r^2 / (1 + r^2), as a function of r. *)
Theorem squash_length (r : R) : is_derive (fun s => s ^ 2 / (1 + s ^ 2)) r (2 * r / (1 + r ^ 2) ^ 2).
Proof.
  assert (H := one_plus_sq r); eapply D_eq.
  - apply (D_div (fun s => s ^ 2) (fun s => 1 + s ^ 2)); [apply (D_sq (fun s => s)), D_id| |lra].
    apply (D_plus (fun _ => 1)); [apply D_const|apply (D_sq (fun s => s)), D_id].
  - field; lra.
Qed.

Theorem squash_derive (f : R -> vec) t v : is_derive_vec f t v -> f t <> vzero ->
  let r := nrm (f t) in let u := unit (f t) in
  is_derive_vec (fun s => squash (f s)) t
    (vadd (vscal (2 * r / (1 + r ^ 2) ^ 2 * dot u v) u)
          (vscal (r / (1 + r ^ 2)) (vadd v (vscal (- dot u v) u)))).
Proof.
  intros Hf Hz r u; assert (Hr := nrm_pos _ Hz); fold r in Hr; assert (H := one_plus_sq r).
  assert (D : is_derive (fun s => nrm (f s) ^ 2 / (1 + nrm (f s) ^ 2)) t (dot u v * (2 * r / (1 + r ^ 2) ^ 2))).
  { exact (is_derive_comp (fun s => s ^ 2 / (1 + s ^ 2)) (fun s => nrm (f s)) t _ _ (squash_length r)
             (D_nrm f t v Hf Hz)). }
  eapply D_vec_eq; [exact (D_vec_scal _ _ t _ _ D (unit_derive f t v Hf Hz))|].
  cbv beta; fold u r; components; field; lra.
Qed.

(** J u = 2r / (1 + r^2)^2 u. *)
Theorem squash_radial z : z <> vzero ->
  is_derive_vec (fun s => squash (vadd z (vscal s (unit z)))) 0
    (vscal (2 * nrm z / (1 + nrm z ^ 2) ^ 2) (unit z)).
Proof.
  intros Hz; assert (E : vadd z (vscal 0 (unit z)) = z) by (components; ring).
  eapply D_vec_eq.
  - apply (squash_derive (fun s => vadd z (vscal s (unit z))) 0 (unit z)); [apply D_vec_line|now rewrite E].
  - rewrite E, dot_unit_unit by easy; components; ring.
Qed.

(** Across the radius: r / (1 + r^2). *)
Theorem squash_across z v : z <> vzero -> dot (unit z) v = 0 ->
  is_derive_vec (fun s => squash (vadd z (vscal s v))) 0 (vscal (nrm z / (1 + nrm z ^ 2)) v).
Proof.
  intros Hz Hv; assert (E : vadd z (vscal 0 v) = z) by (components; ring).
  eapply D_vec_eq.
  - apply (squash_derive (fun s => vadd z (vscal s v)) 0 v); [apply D_vec_line|now rewrite E].
  - rewrite E, Hv; components; ring.
Qed.

(** The factor is positive for every r > 0, and vanishes only at the two ends. *)
Theorem squash_positive (r : R) : 0 < r ->
  0 < 2 * r / (1 + r ^ 2) ^ 2 /\ 2 * r / (1 + r ^ 2) ^ 2 < 2 * r /\ 2 * r / (1 + r ^ 2) ^ 2 < 2 / r ^ 3.
Proof.
  intros Hr; assert (H := one_plus_sq r); assert (H2 : 0 < (1 + r ^ 2) ^ 2) by now apply pow_lt.
  assert (H3 : 0 < r ^ 3) by now apply pow_lt.
  repeat split.
  - apply Rdiv_lt_0_compat; lra.
  - apply (Rmult_lt_reg_r ((1 + r ^ 2) ^ 2)); [easy|]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l by lra; nra.
  - apply (Rmult_lt_reg_r ((1 + r ^ 2) ^ 2 * r ^ 3)); [nra|].
    replace (2 * r / (1 + r ^ 2) ^ 2 * ((1 + r ^ 2) ^ 2 * r ^ 3)) with (2 * r * r ^ 3) by (field; lra).
    replace (2 / r ^ 3 * ((1 + r ^ 2) ^ 2 * r ^ 3)) with (2 * (1 + r ^ 2) ^ 2) by (field; lra); nra.
Qed.

(** So the Jacobian is singular along no radius. *)
Theorem squash_refuted z : z <> vzero ->
  ~ is_derive_vec (fun s => squash (vadd z (vscal s (unit z)))) 0 vzero.
Proof.
  intros Hz D; assert (E := D_vec_unique _ _ _ _ D (squash_radial z Hz)); assert (Hr := nrm_pos z Hz).
  assert (N : nrm vzero = 2 * nrm z / (1 + nrm z ^ 2) ^ 2 * 1).
  { rewrite E, nrm_vscal_pos, nrm_unit by (easy || (left; now apply squash_positive)); reflexivity. }
  rewrite nrm0 in N; destruct (squash_positive (nrm z) Hr) as [Q _]; lra.
Qed.
