"""Run with: .venv/bin/python -m unittest"""

import unittest

import by_length
import strategy_pb2 as pb


def fleet(**in_flight):
    return [pb.Worker(id=name, load=pb.Load(in_flight=n)) for name, n in in_flight.items()]


class Route(unittest.TestCase):
    def first(self, workers, prompt_tokens, **options):
        task = pb.RouteTask(request=pb.Request(prompt_tokens=prompt_tokens))
        decision = by_length.Strategy(options, seed=1).route(task, workers)
        self.assertEqual(sorted(decision.workers), list(range(len(workers))))
        return workers[decision.workers[0]].id

    def test_long_and_short_prompts_go_apart(self):
        workers = fleet(a=0, b=0, c=0, d=0, e=0, f=0)
        long = {w.id for w in workers if by_length.place(w.id) < 0.5}
        self.assertIn(self.first(workers, 9000), long)
        self.assertNotIn(self.first(workers, 100), long)

    def test_the_least_loaded_of_a_part_is_first(self):
        self.assertEqual(self.first(fleet(a=3, b=1, c=2), 100, share="0"), "b")

    def test_a_full_part_spills_over(self):
        workers = fleet(a=3, b=3, c=3, d=3, e=3, f=3)
        short = [w for w in workers if by_length.place(w.id) >= 0.5]
        for w in workers:
            w.load.in_flight = 6 if w in short else 3
        self.assertNotIn(self.first(workers, 100), {w.id for w in short})

    def test_options(self):
        for wrong in ({"long": "many"}, {"share": "2"}, {"length": "1"}):
            with self.assertRaisesRegex(ValueError, next(iter(wrong))):
                by_length.Strategy(wrong, seed=1)


if __name__ == "__main__":
    unittest.main()
