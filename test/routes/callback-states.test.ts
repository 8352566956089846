/** Which states a callback may come with, and what attackers try. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { describe, externalServer, type Somebody } from '../support/external.ts'
import { signUp, unconfirmedPerson } from '../support/people.ts'

const ann: Somebody = { id: '42', emails: [{ email: 'ann@ex.test', verified: true }] }
const pkce = { code_challenge: 'c'.repeat(43), code_challenge_method: 'plain' }

suite('/callback', () => {
  test('states', async (t) => {
    const server = await externalServer(t)
    const { app, goTo, comeBack, fakes } = server
    describe(fakes, 'github', ann)
    describe(fakes, 'gitlab', ann)

    async function age(state: string, seconds: number) {
      const created_at = new Date(Date.now() - seconds * 1000)
      await app.db.updateTable('flow_state').set({ created_at }).where('id', '=', state).execute()
    }

    const refused: Record<string, [() => Promise<Record<string, string>>, string]> = {
      missing: [async () => ({ code: 'c' }), 'bad_oauth_callback'],
      'not an id': [async () => ({ state: "x' or 1", code: 'c' }), 'bad_oauth_state'],
      unknown: [async () => ({ state: crypto.randomUUID(), code: 'c' }), 'bad_oauth_state'],
      replayed: [
        async () => {
          const params = await goTo('github')
          assert.ok((await comeBack(params)).fragment.access_token)
          return params
        },
        'bad_oauth_state',
      ],
      'replayed, of a client with a verifier': [
        async () => {
          const params = await goTo('github', { query: pkce })
          assert.ok((await comeBack(params)).query.code)
          return params
        },
        'flow_state_already_used',
      ],
      'too old': [
        async () => {
          const params = await goTo('github')
          await age(params.state ?? '', 301)
          return params
        },
        'bad_oauth_state',
      ],
      'spent by a callback that failed at the provider': [
        async () => {
          const params = await goTo('github')
          const failed = await comeBack({ ...params, code: 'guessed' })
          assert.equal(failed.query.error_code, 'unexpected_failure')
          return params
        },
        'bad_oauth_state',
      ],
      'of a mail flow': [
        async () => {
          await unconfirmedPerson(server, 'pkce@ex.test')
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
    for (const [title, [given, code]] of Object.entries(refused)) {
      await t.test(`${title}: back to the site, with nothing in the fragment`, async () => {
        const seen = await comeBack(await given())
        assert.equal(seen.status, 303)
        assert.equal(seen.location.origin, 'http://app.example')
        assert.equal(seen.location.hash, '')
        assert.equal(seen.query.error, 'invalid_request')
        assert.equal(seen.query.error_code, code)
      })
    }

    await t.test('within its time', async () => {
      const params = await goTo('github')
      await age(params.state ?? '', 299)
      assert.ok((await comeBack(params)).fragment.access_token)
    })

    await t.test('racing callbacks: one gets in', async () => {
      const params = await goTo('github')
      const seen = await Promise.all([1, 2, 3, 4, 5].map(() => comeBack(params)))
      assert.equal(seen.filter(({ fragment }) => fragment.access_token).length, 1)
      for (const { fragment, query } of seen) {
        if (!fragment.access_token) assert.equal(query.error_code, 'bad_oauth_state')
      }
    })

    await t.test('a code of another provider, or of another flow, is worth nothing', async () => {
      for (const other of ['gitlab', 'github'] as const) {
        const mine = await goTo('github')
        const theirs = await goTo(other)
        const seen = await comeBack({ state: mine.state ?? '', code: theirs.code ?? '' })
        assert.equal(seen.query.error_code, 'unexpected_failure')
        assert.equal(seen.fragment.access_token, undefined)
      }
    })
  })
})
