(** What the words of [Theorems.v] mean, each definition written out once more.

    [Theorems.v] pins what is proved; a statement would still be weakened by another meaning of its words.  So every
    definition that occurs there is repeated here as an equation that holds by computation alone.  *)
From Coq Require Import Reals.
From Twins Require Import SelfScore QkRms Veto Softmax RmsGradientLimits GradientLimits GradientBounds RadialGain
  PowerMeanGradient Projections MaPreimages.
Local Open Scope R_scope.

Notation "x ≡ y" := (eq_refl : x = y) (at level 70, only parsing).

(** Sums, phasors, channels. *)
Check fun f => sum 0 f ≡ 0.
Check fun P f => sum (S P) f ≡ sum P f + f P.
Check fun f => rmax 0 f ≡ 0.
Check fun P f => rmax (S P) f ≡ Rmax (rmax P f) (f P).
Check vec ≡ (R * R)%type.
Check vzero ≡ (0, 0).
Check fun u v => vadd u v ≡ (fst u + fst v, snd u + snd v).
Check fun a u => vscal a u ≡ (a * fst u, a * snd u).
Check fun u v => dot u v ≡ fst u * fst v + snd u * snd v.
Check fun u v => cross u v ≡ fst u * snd v - snd u * fst v.
Check fun u => nrm u ≡ sqrt (fst u ^ 2 + snd u ^ 2).
Check fun u => unit u ≡ vscal (/ nrm u) u.
Check fun r th => polar r th ≡ (r * cos th, r * sin th).
Check fun a u => rot a u ≡ (cos a * fst u - sin a * snd u, sin a * fst u + cos a * snd u).
Check fun A (z : nat -> A) i v k => upd z i v k ≡ if Nat.eqb k i then v else z k.
Check fun z n => channels z n ≡ if Nat.even n then fst (z (Nat.div2 n)) else snd (z (Nat.div2 n)).
Check fun c z i => scaled c z i ≡ vscal c (z i).
Check fun th z i => rotated th z i ≡ rot (th i) (z i).
Check fun A k => spike A k ≡ if Nat.eqb k 0 then (A, 0) else vzero.
Check fun P z => lone P z ≡ forall i j, (i < P)%nat -> (j < P)%nat -> i <> j -> z i = vzero \/ z j = vzero.
Check fun P z => equal_magnitudes P z ≡ forall i j, (i < P)%nat -> (j < P)%nat -> nrm (z i) = nrm (z j).

(** Scales, the layer, the score. *)
Check fun P eps z => S_mean P eps z ≡ sum P (fun i => nrm (z i)) / INR P + eps.
Check fun P eps z => S_rms P eps z ≡ sqrt (sum P (fun i => nrm (z i) ^ 2) / INR P + eps).
Check fun N eps x => RMS N eps x ≡ sqrt (sum N (fun n => x n ^ 2) / INR N + eps).
Check fun P z => rms P z ≡ RMS (2 * P) 0 (channels z).
Check fun x p => pw x p ≡ if Rlt_dec 0 x then exp (p * ln x) else 0.
Check fun P p z => S_pow P p z ≡ pw (sum P (fun i => pw (nrm (z i)) p) / INR P) (/ p).
Check fun P eps z i => zhat P eps z i ≡ vscal (/ S_mean P eps z) (z i).
Check fun gam S z i => out gam S z i ≡ vscal (gam i / S) (z i).
Check fun Sq Sk q k i => contribution Sq Sk q k i ≡ dot (vscal (/ Sq) (q i)) (vscal (/ Sk) (k i)).
Check fun P Sq Sk q k => score P Sq Sk q k ≡ sum P (fun i => dot (vscal (/ Sq) (q i)) (vscal (/ Sk) (k i))).
Check fun N eps x y => qk_rmsnorm N eps x y ≡ sum N (fun n => x n / RMS N eps x * (y n / RMS N eps y)).
Check fun n a i => weight n a i ≡ exp (a i) / sum n (fun k => exp (a k)).

(** Losses, gradients, Jacobians. *)
Check fun f t v => is_derive_vec f t v ≡
  (is_derive (fun s => fst (f s)) t (fst v) /\ is_derive (fun s => snd (f s)) t (snd v)).
Check fun P c t w => curve P c t w ≡ forall k, (k < P)%nat ->
  is_derive_vec (fun s => c s k) t (w k) /\ (c t k <> vzero \/ forall s, c s k = c t k).
Check fun N c t w => channel_curve N c t w ≡ forall n, (n < N)%nat -> is_derive (fun s => c s n) t (w n).
Check fun z j v s k => moved z j v s k ≡ upd z j (vadd (z j) (vscal s v)) k.
Check fun N gam d S x => rms_loss N gam d S x ≡ sum N (fun k => d k * (gam k * x k / S)).
Check fun N gam d S x => rms_projection N gam d S x ≡ / INR N * sum N (fun k => gam k * d k * (x k / S)).
Check fun N gam d S x =>
  rms_projection_post N gam d S x ≡ / INR N * sum N (fun k => gam k * d k * (gam k * x k / S)).
Check fun N eps gam d x i => rms_grad N eps gam d x i ≡
  (gam i * d i - x i / RMS N eps x * rms_projection N gam d (RMS N eps x) x) / RMS N eps x.
Check fun P eps gam g z => loss P eps gam g z ≡ sum P (fun i => dot (g i) (out gam (S_mean P eps z) z i)).
Check fun P eps gam g z => Omega P eps gam g z ≡ / INR P * sum P (fun i => gam i * dot (g i) (zhat P eps z i)).
Check fun P eps gam g z i => grad P eps gam g z i ≡
  vscal (/ S_mean P eps z) (vadd (vscal (gam i) (g i)) (vscal (- Omega P eps gam g z) (unit (z i)))).
Check fun P eps gam g z => Omega_post P eps gam g z ≡
  / INR P * sum P (fun k => gam k * dot (g k) (out gam (S_mean P eps z) z k)).
Check fun P eps gam g z i => grad_post P eps gam g z i ≡
  vscal (/ S_mean P eps z) (vadd (vscal (gam i) (g i)) (vscal (- Omega_post P eps gam g z) (unit (z i)))).
Check fun P eps gam g z i =>
  interference P eps gam g z i ≡ vscal (Omega P eps gam g z / S_mean P eps z) (unit (z i)).
Check fun P eps z i v => own_block P eps z i v ≡
  vscal (/ S_mean P eps z) (vadd v (vscal (- (dot (zhat P eps z i) v / INR P)) (unit (z i)))).
Check fun P eps z i j v => off_block P eps z i j v ≡
  vscal (- (dot (unit (z j)) v / (INR P * S_mean P eps z))) (zhat P eps z i).
Check fun P eps z i => radial_gain P eps z i ≡ (1 - nrm (z i) / (INR P * S_mean P eps z)) / S_mean P eps z.
Check fun P z i => others P z i ≡ sum P (fun k => if Nat.eqb k i then 0 else nrm (z k)).
Check fun P p gam g z => loss_pow P p gam g z ≡ sum P (fun k => dot (g k) (out gam (S_pow P p z) z k)).
Check fun P p gam g z => Omega_pow P p gam g z ≡
  / INR P * sum P (fun k => gam k * dot (g k) (vscal (/ S_pow P p z) (z k))).
Check fun P p gam g z i => interference_pow P p gam g z i ≡
  vscal (Omega_pow P p gam g z * pw (nrm (z i) / S_pow P p z) (p - 1) / S_pow P p z) (unit (z i)).
Check fun P p gam g z i => grad_pow P p gam g z i ≡
  vadd (vscal (gam i / S_pow P p z) (g i)) (vscal (-1) (interference_pow P p gam g z i)).
Check fun z => squash z ≡ vscal (nrm z ^ 2 / (1 + nrm z ^ 2)) (unit z).

(** MA-RMSNorm. *)
Check fun N s alpha gam W x k =>
  MA N s alpha gam W x k ≡ s * gam k * (x k / RMS N 0 x) + alpha * W k * ln (RMS N 0 x).
Check fun N s alpha gam W e x i => ma_grad N s alpha gam W e x i ≡
  (s * gam i * e i - x i / RMS N 0 x *
     (/ INR N * sum N (fun k => e k * (s * gam k * (x k / RMS N 0 x) - alpha * W k)))) / RMS N 0 x.
Check fun N x w => along N x w ≡ sum N (fun n => x n / RMS N 0 x * w n) / INR N.
Check fun alpha gam W k => slant alpha gam W k ≡ alpha * W k / gam k.
Check fun N x k => xhat N x k ≡ x k / RMS N 0 x.
Check fun N alpha gam W => slant_sq N alpha gam W ≡ sum N (fun k => slant alpha gam W k ^ 2).
Check fun N alpha gam W x => alignment N alpha gam W x ≡ sum N (fun k => xhat N x k * slant alpha gam W k).
Check fun N s alpha gam W x => other_level N s alpha gam W x ≡
  ln (RMS N 0 x) + 2 * s * alignment N alpha gam W x / slant_sq N alpha gam W.
Check fun N alpha gam W x k => reflected N alpha gam W x k ≡
  xhat N x k - 2 * alignment N alpha gam W x / slant_sq N alpha gam W * slant alpha gam W k.
Check fun N s alpha gam W x k => other N s alpha gam W x k ≡
  exp (other_level N s alpha gam W x) * reflected N alpha gam W x k.
