(** Power means in the backward pass: which of them subtract the same length at every phasor?

    With S_p = (mean r^p)^(1/p), p > 0, eps = 0 and every z_k != 0, the interference at phasor i has the length
    |Omega_p| (r_i / S_p)^(p-1) / S_p.  It is the same at all phasors for every h exactly when p = 1, as soon as P >= 2.
    Generalizes section 5.1, Eqs. 5 and 6.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Gradient PowerMeanLogit.
Local Open Scope R_scope.

Implicit Types (P i j k : nat) (p t : R) (gam : nat -> R) (g z w : nat -> vec).

Definition Omega_pow P p gam g z : R :=
  / INR P * sum P (fun k => gam k * dot (g k) (vscal (/ S_pow P p z) (z k))).
Definition interference_pow P p gam g z i : vec :=
  vscal (Omega_pow P p gam g z * pw (nrm (z i) / S_pow P p z) (p - 1) / S_pow P p z) (unit (z i)).
Definition grad_pow P p gam g z i : vec :=
  vadd (vscal (gam i / S_pow P p z) (g i)) (vscal (-1) (interference_pow P p gam g z i)).

Definition loss_pow P p gam g z : R := sum P (fun k => dot (g k) (out gam (S_pow P p z) z k)).

Lemma loss_pow_div P p gam g z : loss_pow P p gam g z = sum P (fun k => gam k * dot (g k) (z k)) / S_pow P p z.
Proof.
  unfold loss_pow, Rdiv; rewrite <- sum_scal_r.
  apply sum_ext; intros k _; unfold out, dot, vscal, Rdiv; simpl; ring.
Qed.

Lemma Omega_pow_div P p gam g z :
  Omega_pow P p gam g z = / INR P * (sum P (fun k => gam k * dot (g k) (z k)) / S_pow P p z).
Proof.
  unfold Omega_pow, Rdiv; f_equal; rewrite <- sum_scal_r.
  apply sum_ext; intros k _; unfold dot, vscal; simpl; ring.
Qed.

Lemma S_pow_pos P p z i : (i < P)%nat -> 0 < p -> z i <> vzero -> 0 < S_pow P p z.
Proof.
  intros Hi Hp Hz%nrm_pos; unfold S_pow; apply pw_pos, Rdiv_lt_0_compat; [|now apply (INR_pos P i)].
  apply (Rlt_le_trans _ (pw (nrm (z i)) p)); [now apply pw_pos|].
  apply (sum_ge_term P i (fun k => pw (nrm (z k)) p) Hi); intros; apply pw_ge0.
Qed.

(** dS_p = (1/P) sum (r_k / S_p)^(p-1) u_k . dz_k *)
Lemma D_S_pow P p (c : R -> nat -> vec) t w : (0 < P)%nat -> 0 < p ->
  (forall k, (k < P)%nat -> is_derive_vec (fun s => c s k) t (w k) /\ c t k <> vzero) ->
  is_derive (fun s => S_pow P p (c s)) t
    (sum P (fun k => pw (nrm (c t k) / S_pow P p (c t)) (p - 1) * dot (unit (c t k)) (w k)) / INR P).
Proof.
  intros HP Hp Hc; assert (HP' := lt_0_INR P HP).
  assert (HS : 0 < S_pow P p (c t)) by (apply (S_pow_pos P p (c t) 0); try easy; now apply (Hc 0%nat)).
  assert (HM : 0 < sum P (fun i => pw (nrm (c t i)) p) / INR P) by (rewrite <- S_pow_pw by easy; now apply pw_pos).
  eapply D_eq.
  - apply (D_pw (fun s => sum P (fun i => pw (nrm (c s i)) p) / INR P)); [|exact HM].
    apply (D_scal_r (fun s => sum P (fun i => pw (nrm (c s i)) p))), (D_sum P (fun s i => pw (nrm (c s i)) p)).
    intros k Hk; destruct (Hc k Hk) as [Hv Hz]; apply (D_pw (fun s => nrm (c s k))); [|now apply nrm_pos].
    exact (D_nrm (fun s => c s k) t (w k) Hv Hz).
  - cbv beta; rewrite (sum_ext P (fun k => p * pw (nrm (c t k)) (p - 1) * dot (unit (c t k)) (w k))
              (fun k => p * pw (S_pow P p (c t)) (p - 1) *
                 (pw (nrm (c t k) / S_pow P p (c t)) (p - 1) * dot (unit (c t k)) (w k)))).
    2:{ intros k Hk; rewrite pw_div by (apply nrm_ge0 || easy).
        assert (D := pw_pos _ (p - 1) HS); field; lra. }
    rewrite sum_scal, <- S_pow_pw, pw_pw by (lra || apply pw_ge0).
    replace (p * (/ p - 1)) with (- (p - 1)) by (field; lra).
    assert (E : pw (S_pow P p (c t)) (- (p - 1)) * pw (S_pow P p (c t)) (p - 1) = 1).
    { rewrite <- pw_plus by easy; replace (- (p - 1) + (p - 1)) with 0 by ring.
      rewrite pw_Rpower by easy; now apply Rpower_O. }
    unfold Rdiv; set (a := pw (S_pow P p (c t)) (- (p - 1))) in *; set (b := pw (S_pow P p (c t)) (p - 1)) in *.
    transitivity (/ p * p * (a * b) * (sum P (fun k => pw (nrm (c t k) * / S_pow P p (c t)) (p - 1) *
      dot (unit (c t k)) (w k)) * / INR P)); [ring|rewrite E; field; lra].
Qed.

(** The generalization of Eq. 5, along any motion of non-zero phasors. *)
Theorem power_mean_gradient P p gam g (c : R -> nat -> vec) t w : (0 < P)%nat -> 0 < p ->
  (forall k, (k < P)%nat -> is_derive_vec (fun s => c s k) t (w k) /\ c t k <> vzero) ->
  is_derive (fun s => loss_pow P p gam g (c s)) t (sum P (fun k => dot (grad_pow P p gam g (c t) k) (w k))).
Proof.
  intros HP Hp Hc.
  assert (HS : 0 < S_pow P p (c t)) by (apply (S_pow_pos P p (c t) 0); try easy; now apply (Hc 0%nat)).
  apply (D_ext (fun s => sum P (fun k => gam k * dot (g k) (c s k)) / S_pow P p (c s)));
    [intros; now rewrite loss_pow_div|].
  eapply D_eq.
  - apply loss_scale; [intros k Hk; exact (proj1 (Hc k Hk))|exact (D_S_pow P p c t w HP Hp Hc)|lra].
  - set (S := S_pow P p (c t)) in *.
    rewrite (sum_ext P (fun k => dot (grad_pow P p gam g (c t) k) (w k))
      (fun k => / S * (gam k * dot (g k) (w k)) - Omega_pow P p gam g (c t) / S *
                (pw (nrm (c t k) / S) (p - 1) * dot (unit (c t k)) (w k)))).
    + rewrite sum_minus, !sum_scal, Omega_pow_div; fold S; unfold Rdiv; generalize (/ INR P); intros; field; lra.
    + intros k _; unfold grad_pow, interference_pow; fold S; unfold dot, vadd, vscal, Rdiv; simpl; ring.
Qed.

(** The generalization of Eq. 6. *)
Theorem power_mean_interference P p gam g z i : (i < P)%nat -> 0 < p -> z i <> vzero ->
  nrm (interference_pow P p gam g z i)
  = Rabs (Omega_pow P p gam g z) * pw (nrm (z i) / S_pow P p z) (p - 1) / S_pow P p z.
Proof.
  intros Hi Hp Hz; assert (HS := S_pow_pos P p z i Hi Hp Hz).
  unfold interference_pow; rewrite nrm_vscal, nrm_unit, Rmult_1_r by easy; unfold Rdiv; rewrite !Rabs_mult.
  rewrite (Rabs_pos_eq (pw _ _)), (Rabs_pos_eq (/ _)); [easy|left; now apply Rinv_0_lt_compat|apply pw_ge0].
Qed.

(** Of two phasors the longer one has the longer interference for p > 1, the shorter one for p < 1. *)
Section TwoPhasors.
  Variables (P : nat) (p : R) (gam : nat -> R) (g z : nat -> vec) (i j : nat).
  Hypotheses (Hi : (i < P)%nat) (Hj : (j < P)%nat) (Hp : 0 < p) (Hzj : z j <> vzero).
  Hypotheses (Hlt : nrm (z j) < nrm (z i)) (HO : Omega_pow P p gam g z <> 0).

  Lemma longer_nonzero : z i <> vzero.
  Proof. apply nrm_pos_inv; apply nrm_pos in Hzj; lra. Qed.

  Lemma interference_pow_lt (a b : nat) : z a <> vzero -> z b <> vzero -> (a < P)%nat -> (b < P)%nat ->
    pw (nrm (z a) / S_pow P p z) (p - 1) < pw (nrm (z b) / S_pow P p z) (p - 1) ->
    nrm (interference_pow P p gam g z a) < nrm (interference_pow P p gam g z b).
  Proof.
    intros Ha Hb HaP HbP L; assert (HS := S_pow_pos P p z a HaP Hp Ha); assert (A := Rabs_pos_lt _ HO).
    rewrite !power_mean_interference by easy; apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat|].
    now apply Rmult_lt_compat_l.
  Qed.

  Lemma shares : 0 < nrm (z j) / S_pow P p z < nrm (z i) / S_pow P p z.
  Proof.
    assert (HS := S_pow_pos P p z j Hj Hp Hzj); split; [apply Rdiv_lt_0_compat; [now apply nrm_pos|easy]|].
    apply Rmult_lt_compat_r; [now apply Rinv_0_lt_compat|easy].
  Qed.

  Theorem power_mean_longer : 1 < p ->
    nrm (interference_pow P p gam g z j) < nrm (interference_pow P p gam g z i).
  Proof.
    intros H1; apply interference_pow_lt; auto using longer_nonzero; destruct shares as [A B]; apply pw_lt; lra.
  Qed.

  Theorem power_mean_shorter : p < 1 ->
    nrm (interference_pow P p gam g z i) < nrm (interference_pow P p gam g z j).
  Proof.
    intros H1; apply interference_pow_lt; auto using longer_nonzero; destruct shares as [A B]; apply pw_lt_opp; lra.
  Qed.
End TwoPhasors.

(** Uniform for every h exactly when p = 1. *)
Theorem power_mean_uniform P p : (2 <= P)%nat -> 0 < p ->
  (forall gam g z i j, (i < P)%nat -> (j < P)%nat -> (forall k, (k < P)%nat -> z k <> vzero) ->
     nrm (interference_pow P p gam g z i) = nrm (interference_pow P p gam g z j)) <-> p = 1.
Proof.
  intros HP Hp; split.
  - intros H; destruct (Req_dec p 1) as [|N]; [easy|exfalso].
    set (z := fun k : nat => (match k with O => 2 | _ => 1 end, 0)).
    assert (N0 : nrm (z 0%nat) = 2) by (apply nrm_is; unfold dot, z; simpl; lra).
    assert (N1 : nrm (z 1%nat) = 1) by (apply nrm_is; unfold dot, z; simpl; lra).
    assert (Hz : forall k, z k <> vzero).
    { intros k E; assert (D : fst (z k) = 0) by now rewrite E.
      unfold z in D; destruct k; simpl in D; lra. }
    assert (HS : 0 < S_pow P p z) by (apply (S_pow_pos P p z 0); easy || lia).
    assert (HO : Omega_pow P p (fun _ => 1) z z <> 0); [|
      assert (E := H (fun _ => 1) z z 0%nat 1%nat ltac:(lia) ltac:(lia) (fun k _ => Hz k));
      assert (L : p < 1 \/ 1 < p) by lra; assert (D : nrm (z 1%nat) < nrm (z 0%nat)) by lra; destruct L as [L|L];
      [assert (Q := power_mean_shorter P p _ _ z 0 1 ltac:(lia) ltac:(lia) Hp (Hz 1%nat) D HO L)
      |assert (Q := power_mean_longer P p _ _ z 0 1 ltac:(lia) ltac:(lia) Hp (Hz 1%nat) D HO L)]; lra].
    rewrite Omega_pow_div; apply Rgt_not_eq, Rmult_lt_0_compat; [apply Rinv_0_lt_compat, lt_0_INR; lia|].
    apply Rdiv_lt_0_compat; [|easy].
    apply (Rlt_le_trans _ (1 * dot (z 0%nat) (z 0%nat))); [rewrite <- nrm_sq, N0; lra|].
    apply (sum_ge_term P 0 (fun k => 1 * dot (z k) (z k))); [lia|intros].
    rewrite <- nrm_sq; assert (D := pow2_ge_0 (nrm (z j))); lra.
  - intros -> gam g z i j Hi Hj Hz; rewrite !power_mean_interference by auto.
    replace (1 - 1) with 0 by ring.
    assert (HS := S_pow_pos P 1 z i Hi Hp (Hz i Hi)).
    assert (A : forall k, (k < P)%nat -> pw (nrm (z k) / S_pow P 1 z) 0 = 1).
    { intros k Hk; assert (0 < nrm (z k) / S_pow P 1 z) by (apply Rdiv_lt_0_compat; [now apply nrm_pos, Hz|easy]).
      rewrite pw_Rpower by easy; now apply Rpower_O. }
    now rewrite !A.
Qed.

(** No power mean has both uniform interference and the logit bound P = d/2. *)
Theorem trade_off P p : (2 <= P)%nat -> 0 < p ->
  ~ ((forall gam g z i j, (i < P)%nat -> (j < P)%nat -> (forall k, (k < P)%nat -> z k <> vzero) ->
        nrm (interference_pow P p gam g z i) = nrm (interference_pow P p gam g z j)) /\
     (forall q q', 0 < S_pow P p q -> 0 < S_pow P p q' ->
        Rabs (score P (S_pow P p q) (S_pow P p q') q q') <= INR P)).
Proof.
  intros HP Hp [U B]; apply power_mean_uniform in U; [|easy|easy]; subst p.
  destruct (power_mean_low_tight P 1) as (q & Hq & E); [lia|lra|].
  specialize (B q q Hq Hq); rewrite E in B.
  assert (L := power_mean_above P 1 HP ltac:(lra)).
  rewrite Rabs_pos_eq in B by apply pw_ge0; lra.
Qed.
