(** Eqs. 6 and 7: the term that Eq. 5 subtracts has the length |Omega| / S at every non-zero phasor, and lies along it.

    That length does depend on the phases when g stays where it is, and the uniform length of the subtracted term does
    not make the gradients equally long.  Sources: section 5.1, Eqs. 6-7, and the text after them.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Gradient RmsGradient Invariance.
Local Open Scope R_scope.

Implicit Types (P i j k : nat) (eps c : R) (gam d th : nat -> R) (g z : nat -> vec) (u : vec).

Definition interference P eps gam g z i : vec :=
  vscal (Omega P eps gam g z / S_mean P eps z) (unit (z i)).

Theorem grad_interference P eps gam g z i :
  grad P eps gam g z i = vadd (vscal (gam i / S_mean P eps z) (g i)) (vscal (-1) (interference P eps gam g z i)).
Proof. unfold grad, interference, Rdiv; components; ring. Qed.

(** Eq. 6. *)
Theorem interference_norm P eps gam g z i : 0 < S_mean P eps z -> z i <> vzero ->
  nrm (interference P eps gam g z i) = Rabs (Omega P eps gam g z) / S_mean P eps z.
Proof.
  intros HS Hz; unfold interference, Rdiv; rewrite nrm_vscal, nrm_unit, Rmult_1_r, Rabs_mult by easy.
  rewrite (Rabs_pos_eq (/ _)); [easy|left; now apply Rinv_0_lt_compat].
Qed.

Theorem interference_uniform P eps gam g z i j : 0 < S_mean P eps z -> z i <> vzero -> z j <> vzero ->
  nrm (interference P eps gam g z i) = nrm (interference P eps gam g z j).
Proof. intros; now rewrite !interference_norm. Qed.

(** Eq. 7. *)
Theorem interference_parallel P eps gam g z i : cross (interference P eps gam g z i) (z i) = 0.
Proof. unfold interference, unit, cross, vscal; simpl; ring. Qed.

(** ** Invariance to the phases *)

Theorem phase_invariance_corrected P eps gam th g z :
  Omega P eps gam (rotated th g) (rotated th z) = Omega P eps gam g z /\
  S_mean P eps (rotated th z) = S_mean P eps z.
Proof.
  split; [|apply S_mean_rotated]; rewrite !Omega_div, S_mean_rotated; do 2 f_equal.
  apply sum_ext; intros k _; unfold rotated, rot, dot; simpl.
  assert (E := sin2_cos2 (th k)); unfold Rsqr in E.
  transitivity (gam k * ((sin (th k) * sin (th k) + cos (th k) * cos (th k)) *
                         (fst (g k) * fst (z k) + snd (g k) * snd (z k)))); [ring|rewrite E; ring].
Qed.

(** P = 1, g = (1, 0): the length is 1 at z = (1, 0), and 0 at z turned by a right angle. *)
Theorem phase_invariance_refuted :
  ~ (forall P eps gam th g z, (0 < P)%nat -> 0 <= eps -> (forall k, (k < P)%nat -> z k <> vzero) ->
       Rabs (Omega P eps gam g (rotated th z)) / S_mean P eps (rotated th z)
       = Rabs (Omega P eps gam g z) / S_mean P eps z).
Proof.
  intros H; set (e := fun _ : nat => (1, 0)).
  specialize (H 1%nat 0 (fun _ => 1) (fun _ => PI / 2) e e Nat.lt_0_1 (Rle_refl 0) (fun _ _ => e1_neq0)).
  rewrite S_mean_rotated in H; unfold Omega, zhat in H; rewrite S_mean_rotated in H.
  unfold S_mean, rotated, rot, dot, vscal, e in H.
  cbn [sum fst snd INR] in H; rewrite nrm_e1, cos_PI2, sin_PI2 in H.
  replace (/ 1 * _) with 0 in H at 1 by field; rewrite Rabs_R0 in H.
  replace (/ 1 * _) with 1 in H by field; rewrite Rabs_R1 in H; lra.
Qed.

(** ** Scale *)

(** The gradient is of degree -1: at c h, with c eps, it is 1/c times what it is at h. *)
Theorem grad_scaled P eps gam g z i c : 0 < c -> 0 < S_mean P eps z -> z i <> vzero ->
  grad P (c * eps) gam g (scaled c z) i = vscal (/ c) (grad P eps gam g z i).
Proof.
  intros Hc HS Hz%nrm_pos; unfold grad; rewrite !Omega_div, S_mean_scaled by lra.
  rewrite (sum_ext P _ (fun k => c * (gam k * dot (g k) (z k))))
    by (intros; unfold scaled, dot, vscal; simpl; ring).
  rewrite sum_scal; unfold unit, scaled; rewrite nrm_vscal_pos by lra; unfold Rdiv; generalize (/ INR P); intros.
  components; field; lra.
Qed.

(** ** Homogeneity *)

(** z = ((1,0), (1,0)), gamma = 1, eps = 0 and equally long g: the gradients have lengths 9/13 and 15/13. *)
Theorem homogeneity_witness :
  let z := fun _ : nat => (1, 0) in let gam := fun _ : nat => 1 in
  let g := fun k : nat => match k with O => (1, 0) | _ => (-5 / 13, 12 / 13) end in
  nrm (g 0%nat) = 1 /\ nrm (g 1%nat) = 1 /\
  nrm (grad 2 0 gam g z 0) = 9 / 13 /\ nrm (grad 2 0 gam g z 1) = 15 / 13.
Proof.
  cbv zeta; unfold grad, Omega, zhat, unit, S_mean; cbn [sum]; rewrite nrm_e1.
  replace ((0 + 1 + 1) / INR 2 + 0) with 1 by (simpl; field).
  repeat split; apply nrm_is; try lra; unfold dot, vadd, vscal; simpl; field.
Qed.

Theorem homogeneity_refuted :
  ~ (forall P eps gam g z i j, (i < P)%nat -> (j < P)%nat -> 0 <= eps -> z i <> vzero -> z j <> vzero ->
       nrm (grad P eps gam g z i) = nrm (grad P eps gam g z j)).
Proof.
  intros H; destruct homogeneity_witness as (_ & _ & E0 & E1).
  match type of E0 with nrm (grad _ _ ?gam ?g ?z _) = _ =>
    specialize (H 2%nat 0 gam g z 0%nat 1%nat Nat.lt_0_2 Nat.lt_1_2 (Rle_refl 0) e1_neq0 e1_neq0) end.
  lra.
Qed.

(** RMSNorm's subtracted term, read in pairs, lies along the phasor as well. *)
Theorem rms_interference_parallel P eps gam d z i : 0 < RMS (2 * P) eps (channels z) ->
  let x := channels z in
  let subtracted n := gam n * d n / RMS (2 * P) eps x - rms_grad (2 * P) eps gam d x n in
  cross (subtracted (2 * i)%nat, subtracted (2 * i + 1)%nat) (z i) = 0.
Proof.
  intros HR; cbv zeta; unfold cross, rms_grad; cbn [fst snd]; rewrite channels_even, channels_odd; field; lra.
Qed.

(** At eps = 0 twice the input has half the gradient, so its size is not invariant. *)
Theorem scale_invariance_refuted :
  ~ (forall P eps gam g z i c, (i < P)%nat -> 0 <= eps -> 0 < c -> z i <> vzero ->
       nrm (grad P eps gam g (scaled c z) i) = nrm (grad P eps gam g z i)).
Proof.
  intros H; destruct homogeneity_witness as (_ & _ & E0 & _).
  match type of E0 with nrm (grad _ _ ?gam ?g ?z _) = _ =>
    specialize (H 2%nat 0 gam g z 0%nat 2 Nat.lt_0_2 (Rle_refl 0) Rlt_0_2 e1_neq0);
    assert (S := grad_scaled 2 0 gam g z 0 2 Rlt_0_2 (S_mean_pos 2 0 z 0 Nat.lt_0_2 (Rle_refl 0) e1_neq0) e1_neq0) end.
  rewrite Rmult_0_r in S; rewrite S, nrm_vscal_pos, E0 in H by lra; lra.
Qed.

(** ** A step along the interference *)

(** It changes the length alone, by c; the phase is kept as long as r_i + c > 0. *)
Theorem radial_step u (c : R) : u <> vzero -> vadd u (vscal c (unit u)) = vscal (nrm u + c) (unit u).
Proof. intros Hu%nrm_pos; unfold unit; components; field; lra. Qed.

Theorem radial_step_length u (c : R) : u <> vzero -> nrm (vadd u (vscal c (unit u))) = Rabs (nrm u + c).
Proof. intros Hu; rewrite radial_step, nrm_vscal, nrm_unit by easy; ring. Qed.

Theorem radial_step_phase u (c : R) : u <> vzero ->
  unit (vadd u (vscal c (unit u))) = unit u <-> 0 < nrm u + c.
Proof.
  intros Hu; assert (N := nrm_unit u Hu); rewrite radial_step by easy.
  unfold unit at 1; rewrite nrm_vscal, N, Rmult_1_r.
  split; intros H.
  - apply Rnot_le_lt; intros L; assert (A : Rabs (nrm u + c) = - (nrm u + c)) by now apply Rabs_left1.
    assert (D := f_equal (dot (unit u)) H); rewrite A in D.
    replace (dot (unit u) (vscal (/ - (nrm u + c)) (vscal (nrm u + c) (unit u))))
      with (/ - (nrm u + c) * (nrm u + c) * dot (unit u) (unit u)) in D by (unfold dot, vscal; simpl; ring).
    rewrite <- nrm_sq, N in D; destruct (Req_dec (nrm u + c) 0) as [Z|Z]; [rewrite Z in D; lra|].
    replace (/ - (nrm u + c) * (nrm u + c) * 1 ^ 2) with (-1) in D by (field; easy); lra.
  - rewrite Rabs_pos_eq by lra; components; field; lra.
Qed.

(** The whole gradient does turn the phase: by the tangential part of g_i. *)
Theorem grad_tangential P eps gam g z i : S_mean P eps z <> 0 ->
  cross (z i) (grad P eps gam g z i) = gam i * cross (z i) (g i) / S_mean P eps z.
Proof. intros HS; unfold grad, unit, cross, vadd, vscal, Rdiv; simpl; ring. Qed.
