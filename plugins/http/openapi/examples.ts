/** Request bodies that are valid as they are. Generated ones would contain every optional field at once. */
import { isRecord } from '../../../schemas/values/record.ts'

const email = 'ann@example.com'
const password = 'correct horse'
const code = '123456'
const id = '2f6c1f0e-8f0b-4a39-9b1c-3a6d9a7f5e21'

/** By method and path. */
export const examples: Readonly<Record<string, object>> = {
  'post /signup': { email, password },
  'post /token': { email, password },
  'post /otp': { email },
  'post /magiclink': { email },
  'post /recover': { email },
  'post /resend': { type: 'signup', email },
  'post /verify': { type: 'email', email, token: code },
  'put /user': { data: { name: 'Ann' } },
  'post /factors': { factor_type: 'totp', friendly_name: 'My phone' },
  'post /factors/{factor_id}/verify': { challenge_id: id, code },
  'post /factors/recovery-codes': { friendly_name: 'Recovery codes' },
  'post /factors/recovery-codes/verify': { code: 'k2mqx4tn7abcdefg' },
  'post /factors/recovery_codes/verify': { code: 'k2mqx4tn7abcdefg' },
  'patch /passkeys/{passkey_id}': { friendly_name: 'My laptop' },
  'post /invite': { email: 'bea@example.com' },
  'post /admin/users': { email: 'cyd@example.com', password, email_confirm: true },
  'post /admin/users/{user_id}': { email: 'dan@example.com', email_confirm: true },
  'put /admin/users/{user_id}': { user_metadata: { name: 'Cyd' } },
  'post /admin/generate_link': { type: 'magiclink', email },
  'post /admin/keys': { action: 'rotate' },
  'post /admin/webhooks': { url: 'https://app.example.com/events', events: ['user.created'] },
}

/** Query parameters that a path requires. */
const parameterExamples: Readonly<Record<string, string>> = { 'post /token grant_type': 'password' }

type Json = { [key: string]: unknown }

/** Adds the examples to the document, in place. */
export function addExamples(document: { paths?: object }): void {
  for (const [path, methods] of Object.entries(document.paths ?? {})) {
    for (const [method, operation] of Object.entries(methods)) {
      if (isRecord(operation)) addTo(operation, `${method} ${path}`)
    }
  }
}

function addTo(operation: Json, name: string): void {
  const { requestBody, parameters: described } = operation
  const content = isRecord(requestBody) ? requestBody.content : undefined
  const media = isRecord(content) ? content['application/json'] : undefined
  if (isRecord(media) && examples[name]) media.example = examples[name]
  for (const parameter of Array.isArray(described) ? described : []) {
    const example = isRecord(parameter) ? parameterExamples[`${name} ${parameter.name}`] : undefined
    if (example !== undefined) parameter.example = example
  }
}
