/** Triggers of the operator on tables of this server: an error in one is named in the log, and is never another error. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import { asAdmin } from '../../../support/admin.ts'
import { statusAndCode } from '../../../support/requests.ts'
import { build } from '../../../support/server.ts'
import { autoconfirm, newAddress, signUp } from '../../../support/users.ts'

/** The usual trigger that copies users into a table of the application. */
const trigger = `
  create schema app;
  create table app.profiles (id uuid primary key, name text unique, email text not null);
  create function app.handle_new_user() returns trigger language plpgsql as $$
  begin
    insert into app.profiles (id, name, email)
    values (new.id, new.raw_user_meta_data ->> 'name', new.raw_user_meta_data ->> 'contact');
    return new;
  end $$;
  create trigger on_auth_user_created after insert on auth.users
    for each row execute function app.handle_new_user();
`

suite('failing trigger on auth.users', () => {
  test('is named in the log, and no error of the request', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { lines, env: autoconfirm })
    await sql.raw(trigger).execute(app.db)
    const data = { name: 'ann', contact: 'ann@example.com' }
    const create = (user_metadata: object) =>
      asAdmin(app, 'POST', '/admin/users', { email: newAddress(), user_metadata })
    assert.equal((await signUp(app, { email: newAddress() }, { data })).statusCode, 200)
    const failing: [string, () => ReturnType<typeof create>][] = [
      ['not-null', () => signUp(app, { email: newAddress() }, { data: { name: 'bob' } })],
      // Not `user_already_exists`: the constraint is that of the application.
      ['unique', () => signUp(app, { email: newAddress() }, { data })],
      ['unique', () => create(data)],
    ]
    for (const [violated, request] of failing) {
      lines.length = 0
      const response = await request()
      assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'], response.body)
      assert.doesNotMatch(response.body, /handle_new_user|profiles/)
      const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
      const [{ err, msg }] = errors
      assert.equal(err.type, 'TriggerFailure', msg)
      assert.match(err.message, /trigger .* failed in the function app\.handle_new_user/)
      assert.match(err.cause.message, new RegExp(violated))
      assert.ok(!lines.join('').includes('ann@example.com'))
    }
  })

  test('is named in the log when a deletion reaches it by a cascade', async (t) => {
    const lines: string[] = []
    const { app } = await build(t, { lines, env: autoconfirm })
    const { user } = (await signUp(app, { email: newAddress() })).json()
    await sql
      .raw(`
        create function public.keep() returns trigger language plpgsql as $$
        begin raise exception 'identities are kept'; end $$;
        create trigger keep before delete on auth.identities
          for each row execute function public.keep();
      `)
      .execute(app.db)
    const response = await asAdmin(app, 'DELETE', `/admin/users/${user.id}`, {})
    assert.deepEqual(statusAndCode(response), [500, 'unexpected_failure'], response.body)
    const [failed] = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error')
    assert.match(
      failed.err.message,
      /function (public\.)?keep of another program: identities are kept/,
    )
  })
})
