/** The copy of the specification’s tables, and the values read from it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, test } from 'node:test'

import {
  specificationFile,
  specifiedMailKinds,
  specifiedProviders,
  specifiedSettings,
} from '../../scripts/specification.ts'

const whole = join(import.meta.dirname, '../../../shared/spec.md')
const findSetting = (newValue: string) => specifiedSettings.find(({ name }) => name === newValue)

suite('copy of the specification', () => {
  test('equals the specification', { skip: !existsSync(whole) }, () => {
    const specification = readFileSync(whole, 'utf8')
    const excerpts = [
      between(specification, 'Inherited features that', '## Resources and their fields'),
      between(specification, 'Notification emails, each', 'The operations that trigger each'),
      between(specification, '## Limits', '## Versioning'),
    ]
    assert.equal(readFileSync(specificationFile, 'utf8'), `${excerpts.join('\n\n')}\n`)
  })

  test('lists eighteen providers and thirteen email types', () => {
    assert.equal(specifiedProviders.length, 18)
    assert.equal(specifiedMailKinds.length, 13)
  })

  test('reads each setting with aliases, default and required flag', () => {
    const expected = {
      PORT: { aliases: ['AUTH_API_PORT'], required: false, default: '8081' },
      DATABASE_URL: { aliases: ['AUTH_DB_DATABASE_URL'], required: true, default: undefined },
      AUTH_LOG_FILE: { aliases: ['LOG_FILE'], required: false, default: undefined },
      AUTH_SMS_MESSAGEBIRD_ORIGINATOR: { aliases: [], required: false, default: undefined },
      AUTH_EXTERNAL_TWITTER_SECRET: { aliases: [], required: true, default: undefined },
      AUTH_MAILER_NOTIFICATIONS_PHONE_CHANGED_ENABLED: {
        aliases: [],
        required: false,
        default: 'false',
      },
      OPERATOR_TOKEN: { aliases: [], required: false, default: undefined },
    }
    for (const [name, facts] of Object.entries(expected)) {
      assert.deepEqual(findSetting(name), { name, ...facts })
    }
  })

  test('reads URLs of providers that need one', () => {
    const urls = specifiedSettings.filter(({ name }) => /^AUTH_EXTERNAL_[A-Z]+_URL$/.test(name))
    assert.deepEqual(
      urls.map(({ name }) => name),
      ['AUTH_EXTERNAL_GITLAB_URL', 'AUTH_EXTERNAL_KEYCLOAK_URL'],
    )
  })
})

function between(text: string, start: string, end: string): string {
  return text.slice(text.indexOf(start), text.indexOf(end)).trim()
}
