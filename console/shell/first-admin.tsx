import { pageSession } from '../core/credentials.ts'
import { checkLink, followLink, linkToken } from '../core/first-admin.ts'
import { useResource } from '../core/resource.ts'
import { Button } from '../parts/button.tsx'
import { TextField } from '../parts/fields.tsx'
import { Form } from '../parts/form.tsx'
import { Loaded } from '../parts/states.tsx'
import { Brand } from './navigation.tsx'

/** The page of the one-time link. */
export function FirstAdmin({ token }: { token: string }) {
  const of = useResource(() => checkLink(token), token)
  return (
    <div class="sign-in">
      <main>
        <Brand />
        <h1>Become an admin</h1>
        <Loaded of={of} lines={3}>
          {({ email, role }) => (
            <>
              <p>
                This link makes you {role === 'support' ? '' : 'an '}
                {role} of this server. It works once.
              </p>
              <Choice token={token} email={email} />
            </>
          )}
        </Loaded>
        <Button kind="quiet" onClick={() => leave()}>
          Sign in instead
        </Button>
      </main>
    </div>
  )
}

function Choice({ token, email }: { token: string; email: string | null }) {
  const user = pageSession.value?.user
  if (user) {
    return (
      <Button kind="primary" onClick={() => followLink({ token })}>
        Continue as {user.email ?? user.phone ?? 'the user who is signed in'}
      </Button>
    )
  }
  return (
    <Form
      submit="Create the account"
      onSubmit={({ email: address = '', password = '' }) =>
        followLink({ token, password, ...(email === null && { email: address }) })
      }
    >
      {email === null ? (
        <TextField name="email" type="email" label="Email" required autoFocus />
      ) : (
        <p>
          Account: <strong>{email}</strong>
        </p>
      )}
      <TextField name="password" type="password" label="Password" required />
    </Form>
  )
}

function leave(): void {
  linkToken.value = undefined
}
