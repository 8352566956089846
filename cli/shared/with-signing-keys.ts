/** The signing keys of the configured server, for commands that run next to it. */
import {
  createSigningKeys,
  type SigningKeys,
} from '../../plugins/security/jwt/signing-keys/index.ts'
import { type CommandContext, withContext } from './context.ts'

/** Calls `use` with the current keys. */
export async function withSigningKeys(
  use: (keys: SigningKeys, context: CommandContext) => Promise<void>,
): Promise<void> {
  await withContext(console.error, async (context) => {
    const { config, db, encryption } = context
    const log = {
      info() {},
      warn: (_details: unknown, message?: string) => console.error(message),
    }
    const keys = createSigningKeys({ db, config, encryption, log })
    await keys.sync(new Date())
    await use(keys, context)
  })
}
