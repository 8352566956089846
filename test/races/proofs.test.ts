/** (verify, verify) and (invite, sign-up): a proof is spent once, and an invitation is for whoever reads the mail. */
import { linkIn } from '../support/mail-links.ts'
import { newAddress, password, signUp } from '../support/people.ts'
import { factsThatHold, type Pair, racesOf } from '../support/races/pairs.ts'
import { newPassword, type People } from '../support/races/people.ts'
import { suiteOfRaces } from '../support/races/suite.ts'
import { verify } from '../support/requests.ts'

interface Link {
  id: string
  email: string
  email_otp: string
  hashed_token: string
  verification_type: string
}

const byCode = ({ email, email_otp, verification_type }: Link) => ({
  ...{ type: verification_type, email, token: email_otp },
})

const byLink = ({ hashed_token, verification_type }: Link) => ({
  ...{ type: verification_type, token_hash: hashed_token },
})

/** The same proof twice, as code or as link. */
function twice(
  { app, asAdmin, create }: People,
  type: 'signup' | 'recovery',
  ...[first, second]: [typeof byCode | typeof byLink, typeof byCode | typeof byLink]
): Pair<Link> {
  return {
    invariant:
      'A proof is spent once: one answer is a session, the other a refusal, and there is one session.',
    async prepare() {
      const isNew = type === 'signup'
      const email = isNew ? newAddress() : (await create()).email
      const body = { type, email, ...(isNew && { password }) }
      return (await asAdmin('POST', '/admin/generate_link', body)).json<Link>()
    },
    first: (link) => verify(app, first(link)),
    second: (link) => verify(app, second(link)),
    async violations({ id }, course) {
      const statuses = [course.first.statusCode, course.second.statusCode].sort().join()
      const sessions = await app.db
        .selectFrom('sessions')
        .select('id')
        .where('user_id', '=', id)
        .execute()
      return factsThatHold({
        [`the answers were ${statuses}`]: statuses !== '200,403',
        [`there are ${sessions.length} sessions`]: sessions.length !== 1,
      })
    },
  }
}

/** A stranger signs up with the address that is invited. */
function invitation({ app, asAdmin, mail, signsIn }: People): Pair<{ email: string }> {
  const stranger = newPassword
  return {
    invariant:
      'The link of an invitation opens the account, whoever signs up with the address meanwhile, and their password never does.',
    prepare: async () => ({ email: newAddress() }),
    first: ({ email }) => asAdmin('POST', '/invite', { email }),
    second: ({ email }) => signUp(app, { email, password: stranger }),
    async violations({ email }, { first, second }) {
      const answers = `${first.statusCode}, ${second.statusCode}`
      if (answers !== '200, 200') return [`the answers were ${answers}`]
      const link = await mail.waitFor((message) => {
        return message.to === email && linkIn(message).includes('type=invite')
      })
      const token_hash = new URL(linkIn(link)).searchParams.get('token')
      const before = await signsIn(email, stranger)
      const opened = await verify(app, { type: 'invite', token_hash })
      const people = await app.db
        .selectFrom('users')
        .select('id')
        .where('email', '=', email)
        .execute()
      return factsThatHold({
        'the invitation opens nothing': opened.statusCode !== 200,
        "the stranger's password opens the account": before || (await signsIn(email, stranger)),
        [`there are ${people.length} accounts`]: people.length !== 1,
      })
    },
  }
}

suiteOfRaces(
  'races for a proof',
  {},
  {
    'a code and the same code': (people) => racesOf(twice(people, 'signup', byCode, byCode), 12),
    'a code and its link': (people) => racesOf(twice(people, 'signup', byCode, byLink), 12),
    'a link of a recovery and the same link': (people) =>
      racesOf(twice(people, 'recovery', byLink, byLink), 12),
    'an invitation and a sign-up with its address': (people) => racesOf(invitation(people), 12),
  },
)
