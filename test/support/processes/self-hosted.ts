/**
 * The environment that the Supabase self-hosting compose file gives to its auth service, with the values of its
 * .env.example: GoTrue’s names only, some of them empty. Secrets are random, as that file asks for.
 */
import { randomBytes } from 'node:crypto'

import type { ConfigVariableName } from '../../../config/groups/index.ts'

export const secret = randomBytes(30).toString('base64')
export const database = `postgres://supabase_auth_admin:${randomBytes(9).toString('hex')}@db:5432/postgres`
export const path = '/auth/v1/verify'

type Row = [name: string, text: string, variable: ConfigVariableName, value: unknown]

/** Each variable of the service, and its meaning here. */
export const rows: Row[] = [
  ['GOTRUE_API_HOST', '0.0.0.0', 'AUTH_API_HOST', '0.0.0.0'],
  ['GOTRUE_API_PORT', '9999', 'PORT', 9999],
  ['API_EXTERNAL_URL', 'http://localhost:8000', 'AUTH_API_EXTERNAL_URL', 'http://localhost:8000'],
  ['GOTRUE_DB_DRIVER', 'postgres', 'AUTH_DB_DRIVER', 'postgres'],
  ['GOTRUE_DB_DATABASE_URL', database, 'DATABASE_URL', database],
  ['GOTRUE_SITE_URL', 'http://localhost:3000', 'AUTH_SITE_URL', 'http://localhost:3000'],
  ['GOTRUE_URI_ALLOW_LIST', '', 'AUTH_URI_ALLOW_LIST', []],
  ['GOTRUE_DISABLE_SIGNUP', 'false', 'AUTH_DISABLE_SIGNUP', false],
  ['GOTRUE_JWT_ADMIN_ROLES', 'service_role', 'AUTH_JWT_ADMIN_ROLES', ['service_role']],
  ['GOTRUE_JWT_AUD', 'authenticated', 'AUTH_JWT_AUD', 'authenticated'],
  [
    'GOTRUE_JWT_DEFAULT_GROUP_NAME',
    'authenticated',
    'AUTH_JWT_DEFAULT_GROUP_NAME',
    'authenticated',
  ],
  ['GOTRUE_JWT_EXP', '3600', 'AUTH_JWT_EXP', 3600],
  ['GOTRUE_JWT_SECRET', secret, 'AUTH_JWT_SECRET', secret],
  ['GOTRUE_EXTERNAL_EMAIL_ENABLED', 'true', 'AUTH_EXTERNAL_EMAIL_ENABLED', true],
  [
    'GOTRUE_EXTERNAL_ANONYMOUS_USERS_ENABLED',
    'false',
    'AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED',
    false,
  ],
  ['GOTRUE_MAILER_AUTOCONFIRM', 'false', 'AUTH_MAILER_AUTOCONFIRM', false],
  ['GOTRUE_SMTP_ADMIN_EMAIL', 'admin@example.com', 'AUTH_SMTP_ADMIN_EMAIL', 'admin@example.com'],
  ['GOTRUE_SMTP_HOST', 'supabase-mail', 'AUTH_SMTP_HOST', 'supabase-mail'],
  ['GOTRUE_SMTP_PORT', '2500', 'AUTH_SMTP_PORT', 2500],
  ['GOTRUE_SMTP_USER', 'fake_mail_user', 'AUTH_SMTP_USER', 'fake_mail_user'],
  ['GOTRUE_SMTP_PASS', 'fake_mail_password', 'AUTH_SMTP_PASS', 'fake_mail_password'],
  ['GOTRUE_SMTP_SENDER_NAME', 'fake_sender', 'AUTH_SMTP_SENDER_NAME', 'fake_sender'],
  ['GOTRUE_MAILER_URLPATHS_INVITE', path, 'AUTH_MAILER_URLPATHS_INVITE', path],
  ['GOTRUE_MAILER_URLPATHS_CONFIRMATION', path, 'AUTH_MAILER_URLPATHS_CONFIRMATION', path],
  ['GOTRUE_MAILER_URLPATHS_RECOVERY', path, 'AUTH_MAILER_URLPATHS_RECOVERY', path],
  ['GOTRUE_MAILER_URLPATHS_EMAIL_CHANGE', path, 'AUTH_MAILER_URLPATHS_EMAIL_CHANGE', path],
  ['GOTRUE_EXTERNAL_PHONE_ENABLED', 'true', 'AUTH_EXTERNAL_PHONE_ENABLED', true],
  ['GOTRUE_SMS_AUTOCONFIRM', 'true', 'AUTH_SMS_AUTOCONFIRM', true],
]

/** What the file has in comments, switched on before it was filled in: each is empty. */
export const empty = [
  ...['GOOGLE', 'GITHUB', 'AZURE'].flatMap((provider) =>
    ['ENABLED', 'CLIENT_ID', 'SECRET'].map((field) => `GOTRUE_EXTERNAL_${provider}_${field}`),
  ),
  ...['PROVIDER', 'OTP_EXP', 'OTP_LENGTH', 'MAX_FREQUENCY', 'TEMPLATE', 'TEST_OTP'].map(
    (field) => `GOTRUE_SMS_${field}`,
  ),
  ...['ACCOUNT_SID', 'AUTH_TOKEN', 'MESSAGE_SERVICE_SID'].map(
    (field) => `GOTRUE_SMS_TWILIO_${field}`,
  ),
  ...['TOTP_ENROLL_ENABLED', 'TOTP_VERIFY_ENABLED', 'MAX_ENROLLED_FACTORS'].map(
    (field) => `GOTRUE_MFA_${field}`,
  ),
  'GOTRUE_MAILER_SECURE_EMAIL_CHANGE_ENABLED',
  'GOTRUE_SMTP_MAX_FREQUENCY',
]

export const environment: Record<string, string> = {
  ...Object.fromEntries(rows.map(([name, text]) => [name, text])),
  ...Object.fromEntries(empty.map((name) => [name, ''])),
}
