/** Who comes back from a provider, what is there before, what the browser sees and what is stored. */
import assert from 'node:assert/strict'

import type { ExternalServer, Somebody } from './external.ts'
import { linkIn } from './mail-links.ts'

type Seen = 'session' | { error: string; error_code: string }

export interface Row {
  /** What is there before; returns the user that is expected to be entered, when it is an old one. */
  given?: (server: ExternalServer, email: string) => Promise<{ id: string } | undefined>
  who: (email: string, id: string) => Somebody
  provider?: 'github' | 'gitlab'
  seen: Seen
  /** Users that the sign-in adds. */
  made: number
  stored?: (server: ExternalServer, id: string, email: string) => Promise<void>
}

const needsVerification = {
  error: 'access_denied',
  error_code: 'provider_email_needs_verification',
}
const failure = { error: 'server_error', error_code: 'unexpected_failure' }

export const proven = (email: string, id: string) => ({ id, emails: [{ email, verified: true }] })
export const unproven = (email: string, id: string) => ({
  id,
  emails: [{ email, verified: false }],
})

export const table: Record<string, Row> = {
  'a new account': {
    who: (email, id) => proven(email.toUpperCase(), id),
    seen: 'session',
    made: 1,
    async stored({ personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
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
  'an identity that is known: data follows the provider, the address stays': {
    async given({ signIn, personWith }, email) {
      const id = idOf(email)
      await signIn('github', { ...proven(email, id), name: 'Old Name' })
      return personWith({ provider: 'github', id })
    },
    who: (email, id) => ({ ...proven(`new-${email}`, id), name: 'New Name' }),
    seen: 'session',
    made: 0,
    async stored({ personWith, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.raw_user_meta_data?.name, 'New Name')
      const [identity] = user.identities
      assert.equal(identity?.identity_data.email, `new-${email}`)
      assert.ok(Number(identity.updated_at) > Number(identity.last_sign_in_at))
      assert.deepEqual(await auditActions(user.id), ['user_signedup', 'login'])
    },
  },
  'a proven address of somebody with a password: linked, nothing of theirs is lost': {
    given: ({ signUp }, email) => signUp(email, true),
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith, passwordSignIn, auditActions }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.deepEqual(user?.raw_app_meta_data?.providers, ['email', 'github'])
      assert.equal(user?.raw_app_meta_data?.provider, 'email')
      assert.equal(user?.raw_user_meta_data?.color, 'blue')
      assert.equal(user?.raw_user_meta_data?.name, 'Ann Lee')
      assert.equal((await passwordSignIn(email)).statusCode, 200)
      const actions = await auditActions(user?.id ?? '')
      assert.ok(actions.includes('identity_linked'), actions.join())
    },
  },
  'a proven address that somebody else has squatted: their password and identity are gone': {
    given: ({ signUp }, email) => signUp(email, false),
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith, passwordSignIn }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.ok(user?.email_confirmed_at)
      assert.equal(user.encrypted_password, null)
      assert.deepEqual(
        user.identities.map(({ provider }) => provider),
        ['github'],
      )
      assert.deepEqual(user.raw_app_meta_data, { provider: 'github', providers: ['github'] })
      assert.equal(user.raw_user_meta_data?.color, undefined)
      assert.equal((await passwordSignIn(email)).json().error_code, 'invalid_credentials')
    },
  },
  'a secondary proven address': {
    given: ({ signUp }, email) => signUp(email, true),
    who: (email, id) => ({
      id,
      emails: [
        { email: `first-${email}`, verified: true },
        { email, verified: true },
      ],
    }),
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      assert.equal((await personWith({ provider: 'github', id }))?.email, email)
    },
  },
  'a proven address that another provider has proven too': {
    async given({ signIn, personWith }, email) {
      const id = idOf(email)
      await signIn('gitlab', proven(email, id))
      return personWith({ provider: 'gitlab', id })
    },
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith }, id) {
      const user = await personWith({ provider: 'github', id })
      assert.deepEqual(user?.raw_app_meta_data, {
        ...{ provider: 'gitlab', providers: ['gitlab', 'github'] },
      })
    },
  },
  'proven addresses of two people': {
    async given({ signUp }, email) {
      await signUp(email, true)
      await signUp(`other-${email}`, true)
      return undefined
    },
    who: (email, id) => ({
      id,
      emails: [
        { email, verified: true },
        { email: `other-${email}`, verified: true },
      ],
    }),
    seen: failure,
    made: 0,
    async stored({ personWith }, id) {
      assert.equal(await personWith({ provider: 'github', id }), undefined)
    },
  },
  'an unproven address that nobody has: mail, and no session before it is opened': {
    who: unproven,
    seen: needsVerification,
    made: 1,
    async stored({ app, mail, personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.equal(user.email_confirmed_at, null)
      const { pathname, search } = new URL(linkIn(await mail.waitFor(email)))
      const opened = await app.inject(pathname + search)
      assert.match(String(opened.headers.location), /#access_token=/)
    },
  },
  'an unproven address of somebody: the same answer, no mail, nothing stored': {
    given: ({ signUp }, email) => signUp(email, true),
    who: unproven,
    seen: needsVerification,
    made: 0,
    async stored({ mail, personWith }, id, email) {
      assert.equal(await personWith({ provider: 'github', id }), undefined)
      assert.equal(mail.messages.filter(({ to }) => to === email).length, 1)
    },
  },
  'no address at all': { who: (_, id) => ({ id, emails: [] }), seen: failure, made: 0 },
  'an address that is none': {
    who: (_, id) => proven('not an address', id),
    seen: failure,
    made: 0,
  },
  'a known identity whose unproven address gives way to a proven one': {
    async given({ signIn, personWith }, email) {
      const id = idOf(email)
      await signIn('github', unproven(`typo-${email}`, id))
      return personWith({ provider: 'github', id })
    },
    who: proven,
    seen: 'session',
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, email)
      assert.ok(user?.email_confirmed_at)
    },
  },
  'a known identity: proving one address does not prove the other one it squats': {
    async given({ signIn, signUp, personWith }, email) {
      const id = idOf(email)
      await signIn('github', unproven(`victim-${email}`, id))
      await signUp(email, true)
      return personWith({ provider: 'github', id })
    },
    who: proven,
    seen: needsVerification,
    made: 0,
    async stored({ personWith }, id, email) {
      const user = await personWith({ provider: 'github', id })
      assert.equal(user?.email, `victim-${email}`)
      assert.equal(user?.email_confirmed_at, null)
    },
  },
}

/** Digits that belong to the address of one row. */
export function idOf(email: string): string {
  return /\d+/.exec(email)?.[0] ?? '100'
}
