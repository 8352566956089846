/** The doctor’s checks of hooks and email templates. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { suite, test } from 'node:test'

import { checkHooks } from '../../../cli/doctor/database.ts'
import { checkTemplates } from '../../../cli/doctor/mail.ts'
import { query } from '../../db/sql.ts'
import { cloneDatabase } from '../../support/database.ts'
import { temporaryFolder } from '../../support/processes/temporary-folder.ts'
import { createDoctorContext, createLogin, runCheck } from './doctor-context.ts'

function hook(name: string) {
  return {
    AUTH_HOOK_SEND_SMS_ENABLED: 'true',
    AUTH_HOOK_SEND_SMS_URI: `pg-functions://postgres/public/${name}`,
  }
}

suite('doctor: hooks', () => {
  test('fails for a function that does not exist or may not be called', async (t) => {
    const { url } = await cloneDatabase(t)
    const { name, url: DATABASE_URL } = await createLogin(t, url)
    await query(
      url,
      `create function public.send(event jsonb) returns jsonb language sql as 'select event'`,
      'create function public.send_all() returns jsonb language sql as $$ select null::jsonb $$',
      'revoke execute on function public.send from public',
    )
    const check = (each: string) =>
      runCheck(checkHooks, createDoctorContext(t, { DATABASE_URL, ...hook(each) }))

    const unknown =
      /^fail AUTH_HOOK_SEND_SMS_URI names the function public\.\w+, which does not exist with a jsonb argument/
    assert.match((await check('nothing')).join(), unknown)
    assert.match((await check('send_all')).join(), unknown)
    assert.match(
      (await check('send')).join(),
      /^fail The login doctor_\w+ may not call the function public\.send of AUTH_HOOK_SEND_SMS_URI: grant/,
    )
    await query(url, `grant execute on function public.send to ${name}`)
    assert.match((await check('send')).join(), /^pass The function public\.send/)
  })

  test('does not check disabled hooks and those over https', async (t) => {
    const disabled = { ...hook('nothing'), AUTH_HOOK_SEND_SMS_ENABLED: 'false' }
    assert.deepEqual(await runCheck(checkHooks, createDoctorContext(t, disabled)), [])
    const https = { ...hook(''), AUTH_HOOK_SEND_SMS_URI: 'https://hooks.test/x' }
    assert.deepEqual(await runCheck(checkHooks, createDoctorContext(t, https)), [])
  })
})

suite('doctor: templates', () => {
  test('warns about a template that cannot be used', async (t) => {
    const folder = temporaryFolder(t, 'templates')
    writeFileSync(`${folder}/right.html`, '<p>{{ .ConfirmationURL }}</p>')
    const check = (file: string) =>
      runCheck(
        checkTemplates,
        createDoctorContext(t, { AUTH_TEMPLATES_DIR: folder, AUTH_MAILER_TEMPLATES_INVITE: file }),
      )

    assert.match((await check('missing.html')).join(), /^warn invite: .*missing\.html/)
    assert.deepEqual(await check('right.html'), [
      'pass Every subject and template of yours can be used.',
    ])
  })

  test('does not check the built-in texts', async (t) => {
    assert.deepEqual(await runCheck(checkTemplates, createDoctorContext(t)), [])
  })
})
