/** The confirmation of an email as triggers of the operator see it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { decodeJwt } from 'jose'

import { externalServer, verifiedProfile } from '../../support/external.ts'

test('a first external sign-in confirms by an update, whose triggers run before the token', async (t) => {
  const { app, signInWith } = await externalServer(t)
  await app.pool.query(`
    create function auth.welcome() returns trigger language plpgsql as $$ begin
      update auth.users set raw_app_meta_data = raw_app_meta_data || '{"tenant": 7}' where id = new.id;
      return new;
    end $$;
    create trigger welcome after update of email_confirmed_at on auth.users for each row
      when (old.email_confirmed_at is null and new.email_confirmed_at is not null)
      execute function auth.welcome()`)
  const { fragment } = await signInWith('github', verifiedProfile('ann@ex.test', '81'))
  const claims = decodeJwt(fragment.access_token ?? '')
  assert.deepEqual(claims.app_metadata, { provider: 'github', providers: ['github'], tenant: 7 })
})
