(** What MA-RMSNorm lets one recover: an output leaves at most two magnitudes.

    With v = alpha G^-1 W, gamma_k != 0 and v != 0, the inputs x' with the output of x are x itself and the one whose
    direction is xhat reflected in v, at the level log R' = log R + 2 s <xhat, v> / |v|^2.  They coincide exactly on the
    fold <xhat, v> = 0.  Corrects sections 1, 2.2 and 3.2 of the article (the magnitude is restored).  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export MaNorm.
Local Open Scope R_scope.

Implicit Types (N k : nat) (s alpha : R) (gam W x : nat -> R).

Definition slant alpha gam W k : R := alpha * W k / gam k.
Definition xhat N x k : R := x k / RMS N 0 x.
Definition slant_sq N alpha gam W : R := sum N (fun k => slant alpha gam W k ^ 2).

(** <xhat, v> *)
Definition alignment N alpha gam W x : R := sum N (fun k => xhat N x k * slant alpha gam W k).

Definition other_level N s alpha gam W x : R :=
  ln (RMS N 0 x) + 2 * s * alignment N alpha gam W x / slant_sq N alpha gam W.
Definition reflected N alpha gam W x k : R :=
  xhat N x k - 2 * alignment N alpha gam W x / slant_sq N alpha gam W * slant alpha gam W k.
Definition other N s alpha gam W x k : R := exp (other_level N s alpha gam W x) * reflected N alpha gam W x k.

Lemma xhat_sq N x : (0 < N)%nat -> 0 < RMS N 0 x -> sum N (fun k => xhat N x k ^ 2) = INR N.
Proof.
  intros HN HR; rewrite (sum_ext N _ (fun k => x k ^ 2 * / RMS N 0 x ^ 2))
    by (intros; unfold xhat; field; lra).
  assert (E := RMS_sq N 0 x (Rle_refl 0)); rewrite Rplus_0_r in E.
  apply lt_0_INR in HN; rewrite sum_scal_r.
  replace (sum N (fun n => x n ^ 2)) with (INR N * RMS N 0 x ^ 2) by (rewrite E; field; lra); field; lra.
Qed.

(** y_k / gamma_k = s xhat_k + v_k log R *)
Lemma ma_weightless N s alpha gam W x k : gam k <> 0 ->
  MA N s alpha gam W x k = gam k * (s * xhat N x k + slant alpha gam W k * ln (RMS N 0 x)).
Proof. intros H; unfold MA, xhat, slant; generalize (x k / RMS N 0 x); intros; now field. Qed.

Section Output.
  Variables (N : nat) (s alpha : R) (gam W x : nat -> R).
  Hypotheses (HN : (0 < N)%nat) (HR : 0 < RMS N 0 x) (Hg : forall k, (k < N)%nat -> gam k <> 0).
  Hypothesis Hv : 0 < slant_sq N alpha gam W.

  Let v := slant alpha gam W.
  Let V := slant_sq N alpha gam W.
  Let A := alignment N alpha gam W x.
  Let HV : 0 < V := Hv.
  Let EA : sum N (fun k => xhat N x k * slant alpha gam W k) = A := eq_refl.
  Let EV : sum N (fun k => slant alpha gam W k ^ 2) = V := eq_refl.

  Lemma reflected_sq : sum N (fun k => reflected N alpha gam W x k ^ 2) = INR N.
  Proof.
    rewrite <- (xhat_sq N x HN HR); unfold reflected; fold A V; set (c := 2 * A / V).
    rewrite (sum_ext N _ (fun k => xhat N x k ^ 2 + (- 2 * c * (xhat N x k * slant alpha gam W k)
                                                    + c ^ 2 * slant alpha gam W k ^ 2))) by (intros; ring).
    rewrite !sum_plus, !sum_scal, EA, EV; unfold c; field; lra.
  Qed.

  Lemma RMS_other : RMS N 0 (other N s alpha gam W x) = exp (other_level N s alpha gam W x).
  Proof.
    assert (HP := lt_0_INR N HN); set (l := other_level N s alpha gam W x).
    apply Rsqr_inj; [apply sqrt_pos|left; apply exp_pos|]; rewrite !Rsqr_pow2, RMS_sq by lra.
    rewrite (sum_ext N _ (fun k => exp l ^ 2 * reflected N alpha gam W x k ^ 2))
      by (intros; unfold other; fold l; ring).
    rewrite sum_scal, reflected_sq; field; lra.
  Qed.

  Lemma xhat_other k : xhat N (other N s alpha gam W x) k = reflected N alpha gam W x k.
  Proof.
    unfold xhat at 1; rewrite RMS_other; unfold other; field; apply Rgt_not_eq, exp_pos.
  Qed.

  (** The reflected input exists and gives the same output. *)
  Theorem second_preimage :
    0 < RMS N 0 (other N s alpha gam W x) /\
    (forall k, (k < N)%nat -> MA N s alpha gam W (other N s alpha gam W x) k = MA N s alpha gam W x k) /\
    ln (RMS N 0 (other N s alpha gam W x)) = other_level N s alpha gam W x /\
    alignment N alpha gam W (other N s alpha gam W x) = - alignment N alpha gam W x.
  Proof.
    split; [rewrite RMS_other; apply exp_pos|split; [|split]].
    - intros k Hk; rewrite !ma_weightless, xhat_other, RMS_other, ln_exp by auto.
      unfold reflected, other_level; fold A V; field; lra.
    - rewrite RMS_other; apply ln_exp.
    - unfold alignment; rewrite (sum_ext N _ (fun k => xhat N x k * slant alpha gam W k
        - 2 * A / V * slant alpha gam W k ^ 2)) by (intros; rewrite xhat_other; unfold reflected; fold A V; ring).
      rewrite sum_minus, sum_scal, EA, EV; field; lra.
  Qed.

  (** There is no third: a preimage lies on the line of v through xhat, which meets the sphere twice. *)
  Lemma on_the_line x' k : (k < N)%nat -> MA N s alpha gam W x' k = MA N s alpha gam W x k ->
    s * xhat N x' k = s * xhat N x k - (ln (RMS N 0 x') - ln (RMS N 0 x)) * slant alpha gam W k.
  Proof.
    intros Hk H; rewrite !ma_weightless in H by auto; apply Rmult_eq_reg_l in H; [lra|auto].
  Qed.

  Theorem two_levels x' : 0 < RMS N 0 x' ->
    (forall k, (k < N)%nat -> MA N s alpha gam W x' k = MA N s alpha gam W x k) ->
    ln (RMS N 0 x') = ln (RMS N 0 x) \/ ln (RMS N 0 x') = other_level N s alpha gam W x.
  Proof.
    intros HR' H; unfold other_level; fold A V; set (l := ln (RMS N 0 x)); set (d := ln (RMS N 0 x') - l).
    assert (Q : s ^ 2 * INR N = s ^ 2 * INR N - 2 * s * d * A + d ^ 2 * V).
    { rewrite <- (xhat_sq N x' HN HR') at 1; rewrite <- sum_scal.
      rewrite (sum_ext N _ (fun k => s ^ 2 * xhat N x k ^ 2 + (- 2 * s * d * (xhat N x k * slant alpha gam W k)
                                                             + d ^ 2 * slant alpha gam W k ^ 2))).
      - rewrite !sum_plus, !sum_scal, (xhat_sq N x HN HR), EA, EV; ring.
      - intros k Hk; replace (s ^ 2 * xhat N x' k ^ 2) with ((s * xhat N x' k) ^ 2) by ring.
        rewrite (on_the_line x' k Hk (H k Hk)); fold l d; ring. }
    assert (Z : d * (d * V - 2 * s * A) = 0) by lra.
    apply Rmult_integral in Z; destruct Z as [Z|Z]; [left; unfold d in Z; lra|right].
    assert (D : d = 2 * s * A / V)
      by (apply (Rmult_eq_reg_r V); [|lra]; unfold Rdiv; rewrite Rmult_assoc, Rinv_l; lra).
    unfold d in D; lra.
  Qed.

  Theorem two_preimages x' : s <> 0 -> 0 < RMS N 0 x' ->
    (forall k, (k < N)%nat -> MA N s alpha gam W x' k = MA N s alpha gam W x k) ->
    (forall k, (k < N)%nat -> x' k = x k) \/ (forall k, (k < N)%nat -> x' k = other N s alpha gam W x k).
  Proof.
    intros Hs HR' H.
    assert (E : forall k, x' k = exp (ln (RMS N 0 x')) * xhat N x' k)
      by (intros; unfold xhat; rewrite exp_ln by easy; field; lra).
    destruct (two_levels x' HR' H) as [L|L]; [left|right]; intros k Hk;
      assert (F := on_the_line x' k Hk (H k Hk)); rewrite E, L in *.
    - rewrite exp_ln by easy; replace (xhat N x' k) with (xhat N x k) by (apply (Rmult_eq_reg_l s); lra).
      unfold xhat; field; lra.
    - unfold other; f_equal; apply (Rmult_eq_reg_l s); [|easy].
      rewrite F; unfold other_level, reflected; fold A V; field; lra.
  Qed.

  (** The two levels are one exactly on the fold. *)
  Theorem levels_coincide : s <> 0 ->
    (other_level N s alpha gam W x = ln (RMS N 0 x) <-> alignment N alpha gam W x = 0).
  Proof.
    intros Hs; unfold other_level; fold A V; split; intros H.
    - assert (Z : 2 * s * A / V = 0) by lra.
      apply (Rmult_eq_reg_l (2 * s)); [|lra]; apply (Rmult_eq_reg_r (/ V)); [unfold Rdiv in Z; lra|].
      apply Rgt_not_eq, Rinv_0_lt_compat, Hv.
    - rewrite H; field; lra.
  Qed.
End Output.

(** So the magnitude is not restored: N = 1, gamma = W = 1, s = 2, alpha = 1/10, MA(1) = MA(-e^40). *)
Theorem magnitude_lost :
  let f (a : R) := MA 1 2 (1 / 10) (fun _ => 1) (fun _ => 1) (fun _ => a) 0%nat in
  f 1 = 2 /\ f (- exp 40) = 2 /\ Rabs 1 <> Rabs (- exp 40).
Proof.
  assert (R1 : forall a : R, RMS 1 0 (fun _ => a) = Rabs a).
  { intros a; unfold RMS; simpl; rewrite <- sqrt_Rsqr_abs; f_equal; unfold Rsqr; field. }
  assert (E := exp_pos 40); cbv zeta; unfold MA; rewrite !R1, Rabs_R1, Rabs_Ropp, Rabs_pos_eq by lra.
  split; [rewrite ln_1; field|split; [rewrite ln_exp; field; lra|]].
  assert (L : exp 0 < exp 40) by (apply exp_increasing; lra); rewrite exp_0 in L; lra.
Qed.
