/** CUSTOM_ACCESS_TOKEN as a database function, as guides for such functions show it. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { decodeJwt } from 'jose'
import { sql } from 'kysely'

import type { Session } from '../../../../schemas/session.ts'
import { endingOfSuite } from '../../../support/processes/ending.ts'
import { refresh, statusAndCode } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { watchStatements } from '../../../support/statements.ts'
import { autoconfirm, signIn, signUpUser } from '../../../support/users.ts'
import { functionEnv, makeFunction } from '../../../support/webhooks/hook-functions.ts'

suite('custom access token hook as database function', () => {
  const ending = endingOfSuite()
  const started = start()

  /** In the form that guides for such functions show. */
  async function start() {
    const env = {
      ...autoconfirm,
      ...functionEnv('CUSTOM_ACCESS_TOKEN', 'custom_access_token_hook'),
    }
    const { app } = await build(ending, { env })
    await sql`create schema operator`.execute(app.db)
    await sql`create table operator.user_roles (user_id uuid primary key, role text)`.execute(
      app.db,
    )
    await makeFunction(
      app,
      'custom_access_token_hook',
      `declare
        claims jsonb;
        user_role text;
      begin
        select role into user_role from operator.user_roles where user_id = (event->>'user_id')::uuid;
        claims := event->'claims';
        if user_role is not null then
          claims := jsonb_set(claims, '{user_role}', to_jsonb(user_role));
        else
          claims := jsonb_set(claims, '{user_role}', 'null');
        end if;
        if user_role = 'blocked' then
          return jsonb_build_object('error', jsonb_build_object('http_code', 403, 'message', 'Blocked'));
        end if;
        event := jsonb_set(event, '{claims}', claims);
        return event;
      end;`,
    )
    const give = (userId: string, role: string) =>
      sql`insert into operator.user_roles values (${userId}, ${role})
        on conflict (user_id) do update set role = excluded.role`.execute(app.db)
    return { app, give }
  }

  test('adds claims from custom tables', async () => {
    const { app, give } = await started
    const { user, email, access_token, refresh_token } = await signUpUser(app)
    assert.equal(decodeJwt(access_token).user_role, null)
    await give(user.id, 'editor')
    const refreshed: Session = (await refresh(app, refresh_token)).json()
    assert.equal(decodeJwt(refreshed.access_token).user_role, 'editor')
    await give(user.id, 'blocked')
    const rejected = await signIn(app, { email })
    assert.deepEqual([...statusAndCode(rejected), rejected.json().msg], [403, 'unknown', 'Blocked'])
  })

  test('adds one call to the statements of a refresh', async () => {
    const { app } = await started
    const { refresh_token } = await signUpUser(app)
    const statements = await watchStatements(app, () => refresh(app, refresh_token))
    assert.equal(statements.length, 1, statements.join('\n'))
  })
})
