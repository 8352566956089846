import { getBody } from '../../core/api.ts'
import { useResource } from '../../core/resource.ts'
import { query, setQuery } from '../../core/router.ts'
import { Page } from '../../parts/page.tsx'
import { Loaded } from '../../parts/states.tsx'
import { Attention } from './attention.tsx'
import { Figures } from './figures.tsx'
import { SignInTable } from './sign-in-table.tsx'
import { rangeChoices, type ShownStatistics } from './statistics.ts'
import { SystemStatus } from './system-status.tsx'
import { Trends } from './trends.tsx'

export function OverviewPage() {
  const range = rangeChoices.find(([name]) => name === query.value.get('range'))?.[0] ?? '24h'
  const of = useResource(
    (signal) => getBody<ShownStatistics>(`/admin/statistics?range=${range}`, signal),
    range,
  )
  return (
    <Page
      title="Overview"
      about={of.data && `Postern ${of.data.version}`}
      actions={<RangeChoice current={range} />}
    >
      <Loaded of={of} lines={12}>
        {(statistics) => (
          <>
            <Attention {...statistics} />
            <Figures {...statistics} />
            <Trends {...statistics} />
            <SignInTable {...statistics} />
            <SystemStatus {...statistics} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function RangeChoice({ current }: { current: string }) {
  return (
    <fieldset class="segments" aria-label="Time range">
      {rangeChoices.map(([name, text]) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === current}
          onClick={() => setQuery({ range: name === '24h' ? '' : name }, { replace: false })}
        >
          {text}
        </button>
      ))}
    </fieldset>
  )
}
