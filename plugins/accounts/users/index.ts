/**
 * The people: making an account, proving its addresses, changing and finding it. Nothing else inserts a person, counts an
 * address as proven or clears what an account was given before its address was proven.
 */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { readChange } from './admin-change.ts'
import { addAdminData } from './admin-data.ts'
import { draftRecord } from './admin-draft.ts'
import { changeRecord, createRecord, remove } from './admin-records.ts'
import { announceTask, tellAnnounced } from './announce.ts'
import { approve, approveIfNew, approveSignUp, createQuietApproval } from './approval.ts'
import { asNew } from './as-new.ts'
import { create, enter } from './create.ts'
import { dropUnproven } from './drop-unproven.ts'
import { tellEmailChanged } from './email-changed.ts'
import { invite, prepareInvitation } from './invite.ts'
import { lock, lockByEmail, lockByPhone, lockLive, lockNamed } from './lock.ts'
import { checkMetadata } from './metadata-size.ts'
import { keepForProof, settleSignUps } from './pending-sign-up.ts'
import { checkProfile, putProfile } from './profile.ts'
import { proveEmail } from './prove-email.ts'
import { provePhone } from './prove-phone.ts'
import { register } from './register.ts'
import { createPage, createReadSearch, pageAfter, readFilter } from './search.ts'
import { findRepeated, signUpAtOnce } from './sign-up-at-once.ts'
import { signUpByEmail } from './sign-up-by-email.ts'
import { askPhoneSignUp, signUpByPhone } from './sign-up-by-phone.ts'

declare module 'fastify' {
  interface FastifyInstance {
    users: ReturnType<typeof createUsers>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  'audit',
  'config',
  'db',
  'emails',
  'encryption',
  'events',
  'hooks',
  'jobQueue',
  'bearerAuth',
  'log',
  'otp',
  'passwords',
  'sessions',
] as const

function createUsers(house: House<Needs>) {
  const { tell } = bindSteps(house, { tell: tellAnnounced })
  house.jobQueue.addTask(announceTask, tell, { leaseSeconds: 120 })
  const { AUTH_MAILER_AUTOCONFIRM, AUTH_SMS_AUTOCONFIRM } = house.config
  const signUps = {
    signUpByEmail,
    signUpByPhoneAtOnce: signUpAtOnce,
    askPhoneSignUp,
    signUpByPhone,
  }
  return {
    lock,
    lockByEmail,
    lockByPhone,
    lockLive,
    lockNamed,
    keepForProof,
    ...bindSteps(house, { proveEmail, provePhone, dropUnproven, settleSignUps, tellEmailChanged }),
    ...bindSteps(house, { approve, approveSignUp, approveIfNew }),
    approveQuietly: createQuietApproval(house),
    ...bindSteps(house, { create, enter, register, asNew, findRepeated, ...signUps }),
    ...bindSteps(house, { prepareInvitation, invite, addAdminData, checkProfile, putProfile }),
    ...bindSteps(house, { draftRecord, createRecord, readChange, changeRecord, checkMetadata }),
    ...bindSteps(house, { remove }),
    ...bindSteps(house, { pageAfter }),
    page: createPage(house),
    readSearch: createReadSearch(house),
    readFilter,
    /** Addresses are taken as proven. */
    emailAutoconfirm: AUTH_MAILER_AUTOCONFIRM,
    phoneAutoconfirm: AUTH_SMS_AUTOCONFIRM,
  }
}

export default definePlugin({ name: 'users', needs, create: createUsers })
