import { pageUrl } from '../core/base.ts'
import { Page } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This page does not exist">
        It may require another role, or the link may be from another version of the console.{' '}
        <a href={pageUrl('/')}>Go to the overview</a>.
      </Empty>
    </Page>
  )
}
