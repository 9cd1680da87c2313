package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"gatewayd/pkg/router"
	"gatewayd/pkg/strategies/cacheroute"
)

func planCommand(p process) *cli.Command {
	return &cli.Command{
		Name:  "plan",
		Usage: "compute a CacheRoute plan offline, from a file of rates",
		UsageText: "gatewayd plan --workers N --qcap Q --slots-per-worker W [--charge capped|uncapped] [--previous FILE] --rates FILE|-\n\n" +
			"Example:\n   echo '[{\"key\":1,\"rate\":250},{\"key\":2,\"rate\":30}]' | gatewayd plan --workers 4 --qcap 100 --slots-per-worker 2 --rates -",
		Description: "Sizes, admits and places keys by Algorithm 1 of the paper, afresh: strategy cacheroute with mode=paper.\n" +
			"Rates are a JSON array of {\"key\": K, \"rate\": R}, K a whole number of 64 bits and R requests per second;\n" +
			"equal rates keep their order. The plan is printed as JSON:\n\n" +
			"   table            key -> workers, numbered from 0; keys that are not in it are the cold tail\n" +
			"   expected_load    requests per second of each worker, with an even share of the cold tail\n" +
			"   admitted_rate    of the keys in the table; unadmitted_rate of the others\n" +
			"   imbalance        highest expected load over the mean\n" +
			"   saturated        keys that need more workers than there are\n\n" +
			"and with --previous, which is such an output:\n\n" +
			"   moved            keys in both tables whose workers differ\n" +
			"   churn            mean of 1 - Jaccard(workers before, workers now) over the keys in both tables",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "workers", Usage: "`N` workers, required"},
			&cli.Float64Flag{Name: "qcap", Usage: "`Q` requests per second of one key that a worker should carry, required"},
			&cli.Float64Flag{Name: "slots-per-worker", Usage: "`W` prefixes that a worker's cache holds, required; may be a fraction"},
			&cli.StringFlag{Name: "charge", Value: "capped", Usage: "slots that a key takes, `HOW`: the copies that are placed (capped) or all that it needs (uncapped)"},
			&cli.StringFlag{Name: "previous", Usage: "`FILE` with an earlier output to compare with"},
			&cli.StringFlag{Name: "rates", Usage: "`FILE` of rates, required; - is standard input"},
		},
		OnUsageError: wrongUsage,
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			done, err := place(c, p)
			if err != nil {
				return usageError{err}
			}
			return done.print(p.stdout)
		},
	}
}

// place computes the plan; whatever is wrong is the user's to mend.
func place(c *cli.Context, p process) (placed, error) {
	paper, err := paperOf(c)
	if err != nil {
		return placed{}, err
	}
	var before *router.Table
	if name := c.String("previous"); name != "" {
		if before, err = readFrom(name, p, readPrevious); err != nil {
			return placed{}, fmt.Errorf("--previous %s: %w", name, err)
		}
	}
	rates, err := readFrom(c.String("rates"), p, readRates)
	if err != nil {
		return placed{}, fmt.Errorf("--rates %s: %w", c.String("rates"), err)
	}
	result, err := paper.Place(rates)
	if err != nil {
		return placed{}, err
	}
	return placed{result, before}, nil
}

// paperOf reads the parameters, all of which are required but the charge.
func paperOf(c *cli.Context) (cacheroute.Paper, error) {
	paper := cacheroute.Paper{Workers: c.Int("workers"), QCap: c.Float64("qcap"), Slots: c.Float64("slots-per-worker")}
	for _, flag := range []string{"workers", "qcap", "slots-per-worker", "rates"} {
		if !c.IsSet(flag) {
			return paper, fmt.Errorf("--%s is missing\nhint: gatewayd plan --help shows an example", flag)
		}
	}
	if c.String("rates") == "-" && c.String("previous") == "-" {
		return paper, errors.New("--rates and --previous cannot both be standard input")
	}
	switch charge := c.String("charge"); charge {
	case "capped":
	case "uncapped":
		paper.Charge = cacheroute.Uncapped
	default:
		return paper, fmt.Errorf("--charge is %q, but must be capped or uncapped", charge)
	}
	return paper, nil
}
