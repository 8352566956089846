/**
 * `firebase auth:export export.json --format=json` (or the users of the Admin SDK or the REST API as JSON), for
 * `npm run users -- import`. The hash parameters are those that the Firebase console shows under Authentication › Users ›
 * Password hash parameters.
 */
import { convertFiles, readArguments } from './shared/convert.ts'
import type { Fields } from './shared/fields.ts'
import { toIdentities, withAddresses } from './shared/identities.ts'

const usage =
  'node examples/import/firebase.ts export.json [SIGNER_KEY SALT_SEPARATOR ROUNDS MEM_COST] [--provider NAME=OURS]'

/** Microsoft's ids are those of the directory, and other ones than in sign-ins here. */
const { positionals, providers } = readArguments(usage, {
  'google.com': 'google',
  'apple.com': 'apple',
  'facebook.com': 'facebook',
  'github.com': 'github',
  'twitter.com': 'twitter',
})
const [file = '', ...hashing] = positionals
if (hashing.length !== 0 && hashing.length !== 4) throw new Error(`Usage: ${usage}`)
await convertFiles([file], { list: 'users', convert })

function convert(record: Fields) {
  const id = record.text('localId', 'uid')
  const email = record.text('email')
  const phone = record.text('phoneNumber')
  const times = record.fields('metadata')
  const links = record.list('providerUserInfo', 'providerData')
  const identities = toIdentities(record, providers, readLinks(links))
  return {
    email,
    email_confirm: record.flag('emailVerified'),
    // Firebase stores verified numbers only.
    phone,
    phone_confirm: Boolean(phone),
    password_hash: toHash(record),
    user_metadata: {
      full_name: record.text('displayName'),
      avatar_url: record.text('photoUrl', 'photoURL'),
    },
    // Firebase's id is not a UUID. It is stored so that your own tables can still refer to it.
    app_metadata: { ...record.object('customAttributes', 'customClaims'), firebase_id: id },
    ...(record.flag('disabled') && { banned_until: '2200-01-01T00:00:00Z' }),
    ...withAddresses(identities, { email: Boolean(email), phone: Boolean(phone) }),
    ...(!email && !phone && links.length === 0 && { is_anonymous: true }),
    created_at: record.time('createdAt') ?? times.time('creationTime'),
    last_sign_in_at: record.time('lastSignedInAt', 'lastLoginAt') ?? times.time('lastSignInTime'),
  }
}

function readLinks(links: Fields[]) {
  return links.flatMap((link) => {
    const name = link.text('providerId') ?? 'no provider'
    const id = link.text('rawId', 'uid')
    const data = {
      email: link.text('email'),
      full_name: link.text('displayName'),
      avatar_url: link.text('photoUrl', 'photoURL'),
    }
    // The account's own address and number.
    return name === 'password' || name === 'phone' ? [] : [{ name, id, data }]
  })
}

/** Only the hashes of Firebase's own scrypt have version 0, or none in the command's export. */
function toHash(record: Fields): string | undefined {
  const hash = record.text('passwordHash')
  const salt = record.text('salt', 'passwordSalt')
  const version = record.text('version') ?? '0'
  if (!hash) return undefined
  const reason = !salt ? 'no salt' : hashing.length === 0 ? 'no hash parameters' : undefined
  if (reason || version !== '0' || !salt) {
    record.leaveOut('passwordHash', reason ?? 'not hashed by Firebase')
    return undefined
  }
  const [signerKey, saltSeparator, rounds, memoryCost] = hashing.map(toBase64)
  const parameters = `n=${memoryCost},r=${rounds},p=1,ss=${saltSeparator},sk=${signerKey}`
  return `$fbscrypt$v=1,${parameters}$${toBase64(salt)}$${toBase64(hash)}`
}

/** The REST API writes base64url. */
function toBase64(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/')
}
