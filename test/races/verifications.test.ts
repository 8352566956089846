/** (verify, verify) and (invite, sign-up): a code is consumed once, and an invitation belongs to its recipient. */
import { linkIn } from '../support/messages/mail-links.ts'
import { type Pair, runRaces, trueFacts } from '../support/races/pairs.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import { newPassword, type Users } from '../support/races/users.ts'
import { verify } from '../support/requests.ts'
import { newAddress, password, signUp } from '../support/users.ts'

interface Link {
  id: string
  email: string
  email_otp: string
  hashed_token: string
  verification_type: string
}

const byCode = ({ email, email_otp, verification_type }: Link) => ({
  type: verification_type,
  email,
  token: email_otp,
})

const byLink = ({ hashed_token, verification_type }: Link) => ({
  type: verification_type,
  token_hash: hashed_token,
})

/** The same code or link twice. */
function twice(
  { app, asAdmin, create }: Users,
  type: 'signup' | 'recovery',
  ...[first, second]: [typeof byCode | typeof byLink, typeof byCode | typeof byLink]
): Pair<Link> {
  return {
    invariant:
      'A code is consumed once: one response is a session, the other a rejection, and one session exists.',
    async prepare() {
      const isNew = type === 'signup'
      const email = isNew ? newAddress() : (await create()).email
      const body = { type, email, ...(isNew && { password }) }
      return (await asAdmin('POST', '/admin/generate_link', body)).json<Link>()
    },
    first: (link) => verify(app, first(link)),
    second: (link) => verify(app, second(link)),
    async violations({ id }, outcome) {
      const statuses = [outcome.first.statusCode, outcome.second.statusCode].sort().join()
      const sessions = await app.db
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', id)
        .execute()
      return trueFacts({
        [`the answers were ${statuses}`]: statuses !== '200,403',
        [`there are ${sessions.length} sessions`]: sessions.length !== 1,
      })
    },
  }
}

/** An unauthenticated client signs up with the address that is invited. */
function invitation({ app, asAdmin, mail, signsIn }: Users): Pair<{ email: string }> {
  const attacker = newPassword
  return {
    invariant:
      'The link of an invitation signs in despite concurrent sign-ups, and their password never does.',
    prepare: async () => ({ email: newAddress() }),
    first: ({ email }) => asAdmin('POST', '/invite', { email }),
    second: ({ email }) => signUp(app, { email, password: attacker }),
    async violations({ email }, { first, second }) {
      const responses = `${first.statusCode}, ${second.statusCode}`
      if (responses !== '200, 200') return [`the answers were ${responses}`]
      const link = await mail.waitFor((message) => {
        return message.to === email && linkIn(message).includes('type=invite')
      })
      const token_hash = new URL(linkIn(link)).searchParams.get('token')
      const before = await signsIn(email, attacker)
      const opened = await verify(app, { type: 'invite', token_hash })
      const users = await app.db
        .selectFrom('users')
        .select('id')
        .where('email', '=', email)
        .execute()
      return trueFacts({
        'the invitation does not sign in': opened.statusCode !== 200,
        'the attacker’s password signs in': before || (await signsIn(email, attacker)),
        [`there are ${users.length} accounts`]: users.length !== 1,
      })
    },
  }
}

suiteOfRaces(
  'races for a code or link: it is consumed once',
  {},
  {
    'a code and the same code': (users) => runRaces(twice(users, 'signup', byCode, byCode), 8),
    'a code and its link': (users) => runRaces(twice(users, 'signup', byCode, byLink), 8),
    'a recovery link and the same link': (users) =>
      runRaces(twice(users, 'recovery', byLink, byLink), 8),
    'an invitation and a sign-up with its email': (users) => runRaces(invitation(users), 8),
  },
)
