/**
 * `firebase auth:export export.json --format=json`, for `npm run users -- import`. The hash parameters are those that the
 * Firebase console shows under Authentication › Users › Password hash parameters.
 *
 *   node examples/import/firebase.ts export.json SIGNER_KEY SALT_SEPARATOR ROUNDS MEM_COST > users.ndjson
 */
import { readFileSync } from 'node:fs'

interface FirebaseUser {
  localId: string
  email?: string
  emailVerified?: boolean
  phoneNumber?: string
  displayName?: string
  photoUrl?: string
  passwordHash?: string
  salt?: string
  /** JSON text. */
  customAttributes?: string
  disabled?: boolean
  /** Milliseconds since 1970, as text. */
  createdAt?: string
  lastSignedInAt?: string
  providerUserInfo?: { providerId: string; rawId: string; email?: string; displayName?: string }[]
}

/** Firebase's names for providers, and those of this server. */
const providers: Record<string, string> = {
  'google.com': 'google',
  'apple.com': 'apple',
  'facebook.com': 'facebook',
  'github.com': 'github',
  'twitter.com': 'twitter',
  'microsoft.com': 'azure',
}

const [file, signerKey, saltSeparator, rounds, memoryCost] = process.argv.slice(2)
if (!file || !memoryCost) throw new Error('Name the file and the four hash parameters.')
const { users }: { users: FirebaseUser[] } = JSON.parse(readFileSync(file, 'utf8'))
for (const user of users) console.log(JSON.stringify(convert(user)))

function convert(user: FirebaseUser) {
  const { email, phoneNumber: phone, passwordHash, salt } = user
  const parameters = `n=${memoryCost},r=${rounds},p=1,ss=${saltSeparator},sk=${signerKey}`
  const identities = toIdentities(user)
  return {
    ...{ email, email_confirm: user.emailVerified === true, phone, phone_confirm: Boolean(phone) },
    ...(passwordHash && { password_hash: `$fbscrypt$v=1,${parameters}$${salt}$${passwordHash}` }),
    user_metadata: { full_name: user.displayName, avatar_url: user.photoUrl },
    // Firebase's id is not a UUID. It is stored so that your own tables can still refer to it.
    app_metadata: { firebase_id: user.localId, ...JSON.parse(user.customAttributes ?? '{}') },
    ...(user.disabled && { banned_until: '2200-01-01T00:00:00Z' }),
    ...(identities.length > 0 && { identities }),
    created_at: toIsoTime(user.createdAt),
    last_sign_in_at: toIsoTime(user.lastSignedInAt),
  }
}

function toIdentities({ localId, email, emailVerified, providerUserInfo = [] }: FirebaseUser) {
  const external = providerUserInfo.flatMap(({ providerId, rawId, email, displayName }) => {
    const provider = providers[providerId]
    const identity_data = { sub: rawId, email, full_name: displayName }
    return provider ? [{ provider, provider_id: rawId, identity_data }] : []
  })
  if (external.length === 0 || !email) return external
  const identity_data = { sub: localId, email, email_verified: emailVerified === true }
  return [{ provider: 'email', provider_id: email, identity_data }, ...external]
}

function toIsoTime(milliseconds: string | undefined): string | undefined {
  return milliseconds && new Date(Number(milliseconds)).toISOString()
}
