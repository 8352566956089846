import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

/** The settings that a sign-in form needs. */
const Settings = Type.Object(
  {
    external: Type.Record(Type.String(), Type.Boolean(), {
      description: 'Sign-in methods by name, and whether they are enabled',
    }),
    disable_signup: Type.Boolean(),
    autoconfirm: Type.Boolean(),
    mailer_autoconfirm: Type.Boolean(),
    phone_autoconfirm: Type.Boolean(),
    sms_provider: Type.String(),
    mfa_enabled: Type.Boolean({ description: 'Whether second factors can be enrolled' }),
    saml_enabled: Type.Boolean(),
    saml_private_key_next_configured: Type.Boolean(),
    passkeys_enabled: Type.Boolean(),
  },
  { title: 'Settings' },
)

const settings: FastifyPluginAsyncTypebox = async (app) => {
  const { config, oauthProviders } = app

  app.get(
    '/settings',
    {
      schema: {
        summary: 'Get the public settings',
        tags: ['operations'],
        response: { 200: Settings },
      },
    },
    async () => ({
      external: {
        ...oauthProviders.switches,
        email: config.AUTH_EXTERNAL_EMAIL_ENABLED,
        phone: config.AUTH_EXTERNAL_PHONE_ENABLED,
        anonymous_users: config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED,
      },
      disable_signup: config.AUTH_DISABLE_SIGNUP,
      autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
      mailer_autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
      phone_autoconfirm: config.AUTH_SMS_AUTOCONFIRM,
      sms_provider: config.AUTH_SMS_PROVIDER ?? '',
      mfa_enabled:
        config.AUTH_MFA_TOTP_ENROLL_ENABLED ||
        config.AUTH_MFA_PHONE_ENROLL_ENABLED ||
        config.AUTH_MFA_WEB_AUTHN_ENROLL_ENABLED,
      saml_enabled: config.AUTH_SAML_ENABLED,
      saml_private_key_next_configured: config.AUTH_SAML_PRIVATE_KEY_NEXT !== undefined,
      passkeys_enabled: config.AUTH_PASSKEY_ENABLED,
    }),
  )
}

export default settings
