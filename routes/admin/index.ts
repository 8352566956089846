/** For tokens with an admin role. The token is read before anything else of a request, its body included. */
import type { FastifyPluginAsync } from 'fastify'

import { registerAll } from '../../plugins/register-all.ts'
import audit from './audit.ts'
import events from './events.ts'
import generateLink from './generate-link/index.ts'
import invite from './invite.ts'
import keys from './keys.ts'
import switchedOff from './switched-off.ts'
import create from './users/create.ts'
import factor from './users/factor.ts'
import factors from './users/factors.ts'
import impersonate from './users/impersonate.ts'
import list from './users/list.ts'
import mails from './users/mails.ts'
import passkeys from './users/passkeys.ts'
import record from './users/record.ts'
import recoveryCodes from './users/recovery-codes.ts'
import resendInvitation from './users/resend-invitation.ts'
import sessions from './users/sessions.ts'
import webhookDeliveries from './webhooks/deliveries.ts'
import webhooks from './webhooks/list.ts'
import replayWebhook from './webhooks/replay.ts'
import rotateWebhookSecret from './webhooks/rotate-secret.ts'
import testWebhook from './webhooks/test.ts'
import webhook from './webhooks/webhook.ts'

const admins: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, openapi } = fastify
  fastify.addHook('onRequest', bearerAuth.requireAdmin)
  fastify.addHook('onRoute', openapi.needsBearer)

  await registerAll(fastify, {
    sessions,
    keys,
    list,
    create,
    record,
    resendInvitation,
    mails,
    factors,
    factor,
    passkeys,
    recoveryCodes,
    impersonate,
    generateLink,
    audit,
    events,
    webhooks,
    webhook,
    webhookDeliveries,
    rotateWebhookSecret,
    testWebhook,
    replayWebhook,
    switchedOff,
  })
}

/** Two more roles may invite, and do nothing else. */
const inviters: FastifyPluginAsync = async (fastify) => {
  const { bearerAuth, openapi } = fastify
  fastify.addHook('onRequest', bearerAuth.requireInviter)
  fastify.addHook('onRoute', openapi.needsBearer)

  await registerAll(fastify, { invite })
}

const admin: FastifyPluginAsync = async (fastify) => {
  await registerAll(fastify, { inviters, admins })
}

export default admin
