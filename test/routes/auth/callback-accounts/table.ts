/** Cases of account resolution: the identity, the existing accounts, the response and what is stored. */
import assert from 'node:assert/strict'

import {
  type ExternalServer,
  type ProviderUser,
  unverifiedProfile,
  verifiedProfile,
} from '../../../support/external.ts'
import { open } from '../../../support/messages/mail-journeys.ts'
import { adminCreatedUser, confirmedUser, signIn, unconfirmedUser } from '../../../support/users.ts'

type Seen = 'session' | { error: string; error_code: string }

export interface Row {
  /** Creates existing accounts; returns the user expected to be signed in. */
  given?: (server: ExternalServer, email: string) => Promise<{ id: string } | undefined>
  profile: (email: string, id: string) => ProviderUser
  seen: Seen
  /** Users that the sign-in adds. */
  made: number
  stored?: (server: ExternalServer, id: string, email: string) => Promise<void>
}

const unverified = { error: 'access_denied', error_code: 'provider_email_needs_verification' }
const failure = { error: 'server_error', error_code: 'unexpected_failure' }

const bothVerified = (primary: string, secondary: string, id: string): ProviderUser => ({
  id,
  emails: [primary, secondary].map((email) => ({ email, verified: true })),
})

/** Of a sign-up. */
const blue = { data: { color: 'blue' } }

export const table: Record<string, Row> = {
  'creates an account': {
    profile: (email, id) => verifiedProfile(email.toUpperCase(), id),
    seen: 'session',
    made: 1,
    async stored({ findUserBy, auditActions }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.email, email)
      assert.equal(user.encrypted_password, null)
      assert.equal(user.role, 'authenticated')
      assert.equal(user.is_sso_user, false)
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, email)
      assert.equal(identity?.identity_data.email_verified, true)
      assert.deepEqual(user.raw_user_meta_data, identity?.identity_data)
      assert.deepEqual(await auditActions(user.id), ['user_signedup'])
    },
  },
  'updates the metadata of a known identity and keeps the email': {
    async given({ signInWith, findUserBy }, email) {
      const id = toId(email)
      await signInWith('github', { ...verifiedProfile(email, id), name: 'Old Name' })
      return findUserBy({ provider: 'github', id })
    },
    profile: (email, id) => ({ ...verifiedProfile(`new-${email}`, id), name: 'New Name' }),
    seen: 'session',
    made: 0,
    async stored({ findUserBy, auditActions }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.raw_user_meta_data?.name, 'New Name')
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, `new-${email}`)
      assert.ok(Number(identity.updated_at) > Number(identity.last_sign_in_at))
      assert.deepEqual(await auditActions(user.id), ['user_signedup', 'login'])
    },
  },
  'links by verified email to a user with a password and keeps their data': {
    given: async (server, email) => (await confirmedUser(server, email, blue)).user,
    profile: verifiedProfile,
    seen: 'session',
    made: 0,
    async stored({ app, findUserBy, auditActions }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.deepEqual(user?.raw_app_meta_data?.providers, ['email', 'github'])
      assert.equal(user?.raw_app_meta_data?.provider, 'email')
      assert.equal(user?.raw_user_meta_data?.color, 'blue')
      assert.equal(user?.raw_user_meta_data?.name, 'Ann Lee')
      assert.equal((await signIn(app, { email })).statusCode, 200)
      const actions = await auditActions(user?.id ?? '')
      assert.ok(actions.includes('identity_linked'), actions.join())
    },
  },
  'links by verified email to an unconfirmed user and drops their password and identity': {
    given: async (server, email) => (await unconfirmedUser(server, email, blue)).user,
    profile: verifiedProfile,
    seen: 'session',
    made: 0,
    async stored({ app, findUserBy }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.encrypted_password, null)
      assert.equal(user.identities.map(({ provider }) => provider).join(), 'github')
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      assert.equal(user.raw_user_meta_data?.color, undefined)
      assert.equal((await signIn(app, { email })).json().error_code, 'invalid_credentials')
    },
  },
  'links by a secondary verified email': {
    given: async (server, email) => (await confirmedUser(server, email)).user,
    profile: (email, id) => bothVerified(`first-${email}`, email, id),
    seen: 'session',
    made: 0,
    async stored({ findUserBy }, id, email) {
      assert.equal((await findUserBy({ provider: 'github', id }))?.email, email)
    },
  },
  'links by an email that another provider has verified': {
    async given({ signInWith, findUserBy }, email) {
      const id = toId(email)
      await signInWith('gitlab', verifiedProfile(email, id))
      return findUserBy({ provider: 'gitlab', id })
    },
    profile: verifiedProfile,
    seen: 'session',
    made: 0,
    async stored({ findUserBy }, id) {
      const user = await findUserBy({ provider: 'github', id })
      const providers = ['gitlab', 'github']
      assert.deepEqual(user?.raw_app_meta_data, { provider: 'gitlab', providers })
    },
  },
  'links to the confirmed user when another verified email belongs to an unconfirmed user': {
    async given(server, email) {
      await unconfirmedUser(server, email)
      return (await confirmedUser(server, `own-${email}`)).user
    },
    profile: (email, id) => bothVerified(email, `own-${email}`, id),
    seen: 'session',
    made: 0,
  },
  'rejects verified emails that belong to two users': {
    async given(server, email) {
      await confirmedUser(server, email)
      await confirmedUser(server, `other-${email}`)
      return undefined
    },
    profile: (email, id) => bothVerified(email, `other-${email}`, id),
    seen: failure,
    made: 0,
    async stored({ findUserBy }, id) {
      assert.equal(await findUserBy({ provider: 'github', id }), undefined)
    },
  },
  'emails an unverified free address and creates no session before the confirmation': {
    profile: unverifiedProfile,
    seen: unverified,
    made: 1,
    async stored({ app, mail, findUserBy }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.email_confirmed_at, null)
      const opened = await open(app, await mail.waitFor(email))
      assert.match(String(opened.headers.location), /#access_token=/)
    },
  },
  'keeps the email of a known identity when it becomes verified as a secondary one': {
    async given({ signInWith, findUserBy }, email) {
      const id = toId(email)
      await signInWith('github', unverifiedProfile(email, id))
      return findUserBy({ provider: 'github', id })
    },
    profile: (email, id) => bothVerified(`first-${email}`, email, id),
    seen: 'session',
    made: 0,
    async stored({ findUserBy }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.ok(user.email_confirmed_at)
    },
  },
  'rejects an unverified taken email identically, without sending an email or changing data': {
    given: async (server, email) => (await confirmedUser(server, email)).user,
    profile: unverifiedProfile,
    seen: unverified,
    made: 0,
    async stored({ mail, findUserBy }, id, email) {
      assert.equal(await findUserBy({ provider: 'github', id }), undefined)
      assert.equal(mail.messages.filter(({ to }) => to === email).length, 1)
    },
  },
  'rejects an identity without an email': {
    profile: (_, id) => ({ id, emails: [] }),
    seen: failure,
    made: 0,
  },
  'rejects an identity with an invalid email': {
    profile: (_, id) => verifiedProfile('no address', id),
    seen: failure,
    made: 0,
  },
  'replaces the unverified email of a known identity by a verified one': {
    async given({ signInWith, findUserBy }, email) {
      const id = toId(email)
      await signInWith('github', unverifiedProfile(`typo-${email}`, id))
      return findUserBy({ provider: 'github', id })
    },
    profile: verifiedProfile,
    seen: 'session',
    made: 0,
    async stored({ findUserBy }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.ok(user?.email_confirmed_at)
    },
  },
  'does not link an email of a user of another audience': {
    async given(server, email) {
      const id = toId(email)
      await server.signInWith('github', unverifiedProfile(`first-${email}`, id))
      await adminCreatedUser(server.app, { email, email_confirm: true, aud: 'other' })
      return server.findUserBy({ provider: 'github', id })
    },
    profile: verifiedProfile,
    seen: unverified,
    made: 0,
    async stored({ findUserBy }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.equal(user?.email, `first-${email}`)
    },
  },
  'does not confirm an unverified email by verifying another one': {
    async given(server, email) {
      const id = toId(email)
      await server.signInWith('github', unverifiedProfile(`victim-${email}`, id))
      await confirmedUser(server, email)
      return server.findUserBy({ provider: 'github', id })
    },
    profile: verifiedProfile,
    seen: unverified,
    made: 0,
    async stored({ findUserBy }, id, email) {
      const user = await findUserBy({ provider: 'github', id })
      assert.equal(user?.email, `victim-${email}`)
      assert.equal(user?.email_confirmed_at, null)
    },
  },
}

/** Digits in the email of a case. */
function toId(email: string): string {
  return /\d+/.exec(email)?.[0] ?? '100'
}
