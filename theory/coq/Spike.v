(** A single non-zero phasor, the first, of magnitude [A]: the vector at which most bounds are reached.  *)
From Coq Require Import Reals Lra Lia.
From Twins Require Export Scales.
Local Open Scope R_scope.

Implicit Types (P i : nat) (eps A : R).

Definition spike (A : R) : nat -> vec := upd (fun _ => vzero) 0 (A, 0).

Lemma spike_0 A : spike A 0 = (A, 0).
Proof. reflexivity. Qed.

Lemma spike_other A i : i <> 0%nat -> spike A i = vzero.
Proof. intros Hi; now apply upd_diff. Qed.

Lemma nrm_spike A : 0 <= A -> nrm (spike A 0) = A.
Proof. intros HA; rewrite spike_0; apply nrm_is; [easy|unfold dot; simpl; ring]. Qed.

Lemma sum_spike P A (f : vec -> R) : (0 < P)%nat -> f vzero = 0 -> sum P (fun i => f (spike A i)) = f (A, 0).
Proof.
  intros HP Hf; rewrite (sum_single P 0 (fun i => f (spike A i))); [now rewrite spike_0|easy|].
  intros j _ Hj; now rewrite spike_other.
Qed.

Lemma S_mean_spike P eps A : (0 < P)%nat -> 0 <= A -> S_mean P eps (spike A) = A / INR P + eps.
Proof.
  intros HP HA; unfold S_mean; rewrite (sum_spike P A nrm HP nrm0).
  now rewrite <- spike_0, nrm_spike.
Qed.

Lemma S_rms_spike P A : (0 < P)%nat -> 0 <= A -> S_rms P 0 (spike A) ^ 2 = A ^ 2 / INR P.
Proof.
  intros HP HA; rewrite S_rms_sq by lra; rewrite (sum_spike P A (fun u => nrm u ^ 2)) by (easy || (rewrite nrm0; ring)).
  rewrite <- spike_0, nrm_spike by easy; ring.
Qed.
