/** The journey test: the first actions of a user of the published SDK, against a server at any address. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'

import { AuthClient } from '@supabase/auth-js'

import { until } from '../../support/processes/until.ts'

/** Where emails arrive: the code of the last one to an address. */
type CodeFor = (address: string) => Promise<string | undefined> | string | undefined

/** Signs up, verifies the email, signs in, reads, changes, refreshes and signs out. */
export async function runJourney(url: string, codeFor: CodeFor): Promise<void> {
  const auth = new AuthClient({ url, autoRefreshToken: false, persistSession: false })
  const email = `${randomBytes(6).toString('hex')}@example.com`
  const password = randomBytes(12).toString('base64url')

  const signedUp = await auth.signUp({ email, password })
  assert.equal(signedUp.error, null)
  assert.equal(signedUp.data.session, null)
  const token = await until(() => codeFor(email), { missing: `no email came to ${email}` })
  const verified = await auth.verifyOtp({ type: 'signup', email, token })
  assert.equal(verified.error, null)

  const signedIn = await auth.signInWithPassword({ email, password })
  assert.equal(signedIn.error, null)
  assert.equal((await auth.getUser()).data.user?.email, email)
  const changed = await auth.updateUser({ data: { name: 'Ann' } })
  assert.equal(changed.data.user?.user_metadata.name, 'Ann')
  const refreshed = await auth.refreshSession()
  assert.equal(refreshed.error, null)
  assert.notEqual(refreshed.data.session?.refresh_token, signedIn.data.session?.refresh_token)

  const last = refreshed.data.session?.refresh_token ?? ''
  assert.equal((await auth.signOut()).error, null)
  const after = await auth.refreshSession({ refresh_token: last })
  assert.equal(after.error?.code, 'refresh_token_not_found')
}
