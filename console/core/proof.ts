/** The proof of identity that the API asks for before a change that gives access. */
import { signal } from '@preact/signals'

interface ProofRequest {
  /** Continues the change that waits. */
  confirm: () => void
  cancel: () => void
}

/** Shown as a dialog while it is set. */
export const proofRequest = signal<ProofRequest | undefined>(undefined)

let asked: Promise<boolean> | undefined

/** Whether the admin gave the proof. Concurrent changes share one dialog. */
export function askForProof(): Promise<boolean> {
  asked ??= new Promise<boolean>((resolve) => {
    const end = (isGiven: boolean) => () => {
      proofRequest.value = undefined
      asked = undefined
      resolve(isGiven)
    }
    proofRequest.value = { confirm: end(true), cancel: end(false) }
  })
  return asked
}
