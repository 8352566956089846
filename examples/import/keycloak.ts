/**
 * `kc.sh export --users same_file --realm REALM --file realm.json` of Keycloak, for `npm run users -- import`.
 *
 *   node examples/import/keycloak.ts realm.json > users.ndjson
 */
import { readFileSync } from 'node:fs'

interface KeycloakUser {
  id: string
  email?: string
  emailVerified?: boolean
  enabled?: boolean
  firstName?: string
  lastName?: string
  /** Milliseconds since 1970. */
  createdTimestamp?: number
  /** Their fields hold JSON text. */
  credentials?: { type: string; secretData: string; credentialData: string }[]
}

interface Secret {
  /** Base64, both. */
  value: string
  salt: string
}

interface Algorithm {
  algorithm: string
  hashIterations: number
  additionalParameters?: { memory?: [string]; parallelism?: [string] }
}

const [file] = process.argv.slice(2)
if (!file) throw new Error('Name the file.')
const { users }: { users: KeycloakUser[] } = JSON.parse(readFileSync(file, 'utf8'))
for (const user of users) console.log(JSON.stringify(convert(user)))

function convert(user: KeycloakUser) {
  const { id, email, createdTimestamp, firstName, lastName } = user
  const password = user.credentials?.find(({ type }) => type === 'password')
  return {
    ...{ id, email, email_confirm: user.emailVerified === true },
    ...(password && {
      password_hash: toHash(JSON.parse(password.secretData), JSON.parse(password.credentialData)),
    }),
    user_metadata: { full_name: [firstName, lastName].filter(Boolean).join(' ') },
    ...(user.enabled === false && { banned_until: '2200-01-01T00:00:00Z' }),
    ...(createdTimestamp && { created_at: new Date(createdTimestamp).toISOString() }),
  }
}

/** As PHC strings and passlib write it. Keycloak 25 and later make argon2id, those before PBKDF2. */
function toHash({ value, salt }: Secret, { algorithm, hashIterations, ...more }: Algorithm) {
  const end = [salt, value].map((text) => text.replace(/=+$/, ''))
  if (algorithm === 'argon2') {
    const { memory, parallelism } = more.additionalParameters ?? {}
    const cost = `m=${memory?.[0]},t=${hashIterations},p=${parallelism?.[0]}`
    return `$argon2id$v=19$${cost}$${end.join('$')}`
  }
  const digest = algorithm === 'pbkdf2' ? 'pbkdf2-sha1' : algorithm
  return `$${digest}$${hashIterations}$${end.join('$').replaceAll('+', '.')}`
}
