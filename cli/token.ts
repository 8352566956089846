/** `npm run token`: mints a token for a service (`service_role`) or for public clients (`anon`). */
import { parseArgs } from 'node:util'

import { createJwt } from '../plugins/jwt.ts'
import { parseDuration } from '../schemas/duration.ts'
import { auditCommand } from './audit-command.ts'
import { withSigningKeys } from './with-signing-keys.ts'

export const usage = 'npm run token -- --role service_role [--exp 10y] [--sub UUID]'

/** Prints the token and nothing else. Throws an Error that is one sentence for the operator. */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      role: { type: 'string' },
      exp: { type: 'string', default: '10y' },
      sub: { type: 'string' },
    },
  })
  const { role, sub } = values
  if (!role) throw new Error(`Usage:\n${usage}`)
  const seconds = parseLifetime(values.exp)
  await withSigningKeys(async (signingKeys, { config, db }) => {
    const jwt = createJwt({ signingKeys, config })
    const now = new Date()
    const token = await jwt.signApiToken({ role, sub, seconds }, now)
    const expires_at = new Date(now.getTime() + seconds * 1000).toISOString()
    const traits = { command: 'npm run token', now, role, sub: sub ?? '', expires_at }
    await auditCommand(db, config, 'api_token_issued', traits)
    console.log(token)
  })
}

/** In seconds. */
function parseLifetime(text: string): number {
  const seconds = parseDuration(text)
  if (seconds < 1) {
    throw new Error(`--exp ${text} is too short: a token lives for a second or more.`)
  }
  return seconds
}
