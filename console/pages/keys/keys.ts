import type { SigningKey } from '../../../schemas/signing-key.ts'

/** GET and POST /admin/keys. */
export interface Keys {
  keys: SigningKey[]
}
