import type { Deps } from '../../plugins/define-plugin.ts'
import { passkeyDisabled } from '../../schemas/errors.ts'

/** An onRequest hook. Throws passkey_disabled. */
export async function requirePasskeysEnabled({ config }: Deps<'config'>): Promise<void> {
  if (!config.AUTH_PASSKEY_ENABLED) throw passkeyDisabled()
}
