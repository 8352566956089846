import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'

import { externalProviderNames } from '../schemas/config/groups/external-providers.ts'
import { providerSettings } from '../schemas/config/provider-settings.ts'
import { Settings } from '../schemas/settings.ts'

const settings: FastifyPluginAsyncTypebox = async (fastify) => {
  const { config, oauthProviders } = fastify
  const providers = externalProviderNames.map((name) => [
    name,
    providerSettings(config, name).enabled,
  ])

  fastify.get(
    '/settings',
    {
      schema: {
        summary: 'The public settings of this server',
        tags: ['operations'],
        response: { 200: Settings },
      },
    },
    async () => ({
      external: {
        ...Object.fromEntries(providers),
        // Those that the operator named.
        ...Object.fromEntries(oauthProviders.names.map((name) => [name, true])),
        email: config.AUTH_EXTERNAL_EMAIL_ENABLED,
        phone: config.AUTH_EXTERNAL_PHONE_ENABLED,
        anonymous_users: config.AUTH_EXTERNAL_ANONYMOUS_USERS_ENABLED,
      },
      disable_signup: config.AUTH_DISABLE_SIGNUP,
      autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
      mailer_autoconfirm: config.AUTH_MAILER_AUTOCONFIRM,
      phone_autoconfirm: config.AUTH_SMS_AUTOCONFIRM,
      sms_provider: config.AUTH_SMS_PROVIDER ?? '',
      mfa_enabled: false,
      saml_enabled: false,
      passkeys_enabled: false,
    }),
  )
}

export default settings
