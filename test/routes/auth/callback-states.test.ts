/** Validation of the `state` parameter at /callback, attacks included. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, type ProviderUser } from '../../support/external.ts'
import { signUp, unconfirmedUser } from '../../support/users.ts'

const ann: ProviderUser = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }
const pkce = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }

suite('GET /callback: state', () => {
  test('validates the state', async (t) => {
    const server = await externalServer(t)
    const { app, startSignIn, finishSignIn, fakes } = server
    describe(fakes, 'github', ann)
    describe(fakes, 'gitlab', ann)

    async function age(state: string, seconds: number) {
      const created_at = new Date(Date.now() - seconds * 1000)
      await app.db.updateTable('flow_state').set({ created_at }).where('id', '=', state).execute()
    }

    const rejected: Record<string, [() => Promise<Record<string, string>>, string]> = {
      missing: [async () => ({ code: 'c' }), 'bad_oauth_callback'],
      malformed: [async () => ({ state: "x' or 1", code: 'c' }), 'bad_oauth_state'],
      unknown: [async () => ({ state: crypto.randomUUID(), code: 'c' }), 'bad_oauth_state'],
      replayed: [
        async () => {
          const params = await startSignIn('github')
          assert.ok((await finishSignIn(params)).fragment.access_token)
          return params
        },
        'bad_oauth_state',
      ],
      'replayed, of a PKCE client': [
        async () => {
          const params = await startSignIn('github', { query: pkce })
          assert.ok((await finishSignIn(params)).query.code)
          return params
        },
        'flow_state_already_used',
      ],
      expired: [
        async () => {
          const params = await startSignIn('github')
          await age(params.state ?? '', 301)
          return params
        },
        'bad_oauth_state',
      ],
      'consumed by a callback that failed at the provider': [
        async () => {
          const params = await startSignIn('github')
          const failed = await finishSignIn({ ...params, code: 'guessed' })
          assert.equal(failed.query.error_code, 'unexpected_failure')
          return params
        },
        'bad_oauth_state',
      ],
      'of an email flow': [
        async () => {
          await unconfirmedUser(server, 'pkce@ex.test')
          await signUp(app, { email: 'flow@ex.test' }, pkce)
          const row = await app.db
            .selectFrom('flow_state')
            .select('id')
            .where('provider_type', '=', 'email')
            .executeTakeFirstOrThrow()
          return { state: row.id, code: 'c' }
        },
        'bad_oauth_state',
      ],
    }
    for (const [title, [given, code]] of Object.entries(rejected)) {
      await t.test(
        `rejects a state that is ${title}, redirecting to the site with an empty fragment`,
        async () => {
          const seen = await finishSignIn(await given())
          assert.equal(seen.status, 303)
          assert.equal(seen.location.origin, 'http://app.example')
          assert.equal(seen.location.hash, '')
          assert.equal(seen.query.error, 'invalid_request')
          assert.equal(seen.query.error_code, code)
        },
      )
    }

    await t.test('accepts a state before it expires', async () => {
      const params = await startSignIn('github')
      await age(params.state ?? '', 299)
      assert.ok((await finishSignIn(params)).fragment.access_token)
    })

    await t.test('creates one session when five callbacks race', async () => {
      const params = await startSignIn('github')
      const seen = await Promise.all([1, 2, 3, 4, 5].map(() => finishSignIn(params)))
      assert.equal(seen.filter(({ fragment }) => fragment.access_token).length, 1)
      for (const { fragment, query } of seen) {
        // A loser finds the state used by now, or not any more.
        const codes = ['bad_oauth_state', 'oauth_client_state_not_found']
        if (!fragment.access_token) assert.ok(codes.includes(query.error_code ?? ''))
      }
    })

    await t.test('rejects a code of another provider or another flow', async () => {
      for (const other of ['gitlab', 'github'] as const) {
        const mine = await startSignIn('github')
        const theirs = await startSignIn(other)
        const seen = await finishSignIn({ state: mine.state ?? '', code: theirs.code ?? '' })
        assert.equal(seen.query.error_code, 'unexpected_failure')
        assert.equal(seen.fragment.access_token, undefined)
      }
    })
  })
})
